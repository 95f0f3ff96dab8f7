/** Type, knowledge base, author and time of update (CO-12). */
import { Button, Group, MultiSelect, SimpleGrid, TextInput } from '@mantine/core'
import { useTranslation } from 'react-i18next'

import type { ResultOf } from '../../api/graphql'
import type { Filters } from '../../app/useFilters'
import { useBaseName } from '../../ui/baseName'
import { named } from '../../ui/invisible'
import { type EntryFilterName, NARROWING } from './filter'
import type { CHOICES } from './queries'

type Choice = { value: string; label: string }

export function FilterPanel({
  filters,
  choices,
}: {
  filters: Filters<EntryFilterName>
  choices: ResultOf<typeof CHOICES> | undefined
}) {
  const { t } = useTranslation('entries')
  const { t: ui } = useTranslation('ui')
  const baseName = useBaseName()
  const types = (choices?.entryTypes ?? []).map((type) => ({ value: type, label: type }))
  const bases = (choices?.knowledgeBases.edges ?? []).map(({ node }) => ({
    value: node.id,
    label: baseName(node),
  }))
  const authors = (choices?.entryAuthors ?? []).map((who) => ({
    value: who.id,
    label: named(who.displayName),
  }))
  const clear = () => filters.set(Object.fromEntries(NARROWING.map((name) => [name, null])))
  return (
    <>
      <SimpleGrid cols={{ base: 1, xs: 2, md: 5 }} spacing="sm">
        <Several name="type" label={t('filter.type')} data={types} filters={filters} />
        <Several name="kb" label={t('filter.kb')} data={bases} filters={filters} />
        <Several name="author" label={t('filter.author')} data={authors} filters={filters} />
        <Day name="from" label={t('filter.from')} filters={filters} />
        <Day name="to" label={t('filter.to')} filters={filters} />
      </SimpleGrid>
      <Group mt="sm">
        <Button variant="default" size="xs" onClick={clear}>
          {ui('clear')}
        </Button>
      </Group>
    </>
  )
}

function Several({
  name,
  label,
  data,
  filters,
}: {
  name: EntryFilterName
  label: string
  data: readonly Choice[]
  filters: Filters<EntryFilterName>
}) {
  const { t } = useTranslation('ui')
  const chosen = filters.all(name)
  // What the address names is shown even where it is none of the choices.
  const unknown = chosen.filter((one) => !data.some((known) => known.value === one))
  return (
    <MultiSelect
      label={label}
      searchable
      clearable
      hidePickedOptions
      data={[...data, ...unknown.map((one) => ({ value: one, label: brief(one) }))]}
      value={chosen}
      onChange={(values) => filters.set({ [name]: values })}
      clearButtonProps={{ 'aria-label': t('clearOne') }}
    />
  )
}

/** Ids of what the user does not see are long, and addresses hold whatever somebody wrote there (CO-10). */
const brief = (value: string): string => named(value.length > LONG ? `${value.slice(0, LONG)}…` : value)

const LONG = 24

function Day({
  name,
  label,
  filters,
}: {
  name: EntryFilterName
  label: string
  filters: Filters<EntryFilterName>
}) {
  return (
    <TextInput
      type="date"
      label={label}
      value={filters.get(name)}
      onChange={(event) => filters.set({ [name]: event.currentTarget.value })}
    />
  )
}
