/** The search above the list, and what it can be narrowed by (CO-11, CO-12). */
import { Button, Collapse, Group, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useTranslation } from 'react-i18next'

import type { ResultOf } from '../../api/graphql'
import type { Filters } from '../../app/useFilters'
import { type EntryFilterName, NARROWING } from './filter'
import { FilterPanel } from './FilterPanel'
import type { CHOICES } from './queries'
import { SearchField } from './SearchField'

export function Narrowing({
  filters,
  choices,
}: {
  filters: Filters<EntryFilterName>
  choices: ResultOf<typeof CHOICES> | undefined
}) {
  const { t } = useTranslation('entries')
  const { t: ui } = useTranslation('ui')
  const narrowed = NARROWING.filter((name) => filters.get(name) !== '').length
  const [opened, { toggle }] = useDisclosure(narrowed > 0)
  return (
    <>
      <Group align="end">
        <SearchField value={filters.get('q')} onChange={(q) => filters.set({ q })} />
        <Button variant="default" onClick={toggle} aria-expanded={opened} aria-controls="entry-filters">
          {narrowed > 0 ? t('filtersSet', { count: narrowed }) : ui('filters')}
        </Button>
      </Group>
      <Collapse expanded={opened} id="entry-filters">
        <FilterPanel filters={filters} choices={choices} />
      </Collapse>
      {filters.get('cites') !== '' && (
        <Group gap="xs">
          <Text size="sm">{t('citing')}</Text>
          <Button variant="default" size="compact-xs" onClick={() => filters.set({ cites: null })}>
            {ui('clear')}
          </Button>
        </Group>
      )}
    </>
  )
}
