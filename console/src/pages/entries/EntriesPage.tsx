/** The entries of an owner: the guide above, the search, the list (CO-11 to CO-13, CO-31). */
import { Button, Collapse, Group, Stack, Text, Title } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'

import { usePages } from '../../api/usePages'
import { useRead } from '../../api/useRead'
import { mayCurate, useOwner } from '../../app/owner'
import { useFilters } from '../../app/useFilters'
import { KeepTyped } from '../../ui/KeepTyped'
import { Rows } from '../../ui/Rows'
import { CreateEntry } from './CreateEntry'
import { EntryRows } from './EntryRows'
import { filterOf, FILTERS, NARROWING } from './filter'
import { FilterPanel } from './FilterPanel'
import { GuidePanel } from './guide/GuidePanel'
import { CHOICES, ENTRIES } from './queries'
import { SearchField } from './SearchField'

export function Component() {
  const { t } = useTranslation('entries')
  const { t: ui } = useTranslation('ui')
  const owner = useOwner()
  const filters = useFilters(FILTERS)
  const narrowed = NARROWING.filter((name) => filters.get(name) !== '').length
  const [opened, { toggle }] = useDisclosure(narrowed > 0)
  const filter = useMemo(() => filterOf(filters), [filters])
  const choices = useRead(CHOICES, { owner: owner.id })
  const pages = usePages(ENTRIES, { owner: owner.id, filter, after: null }, (data) => data.entries)
  return (
    <Stack>
      <Group justify="space-between">
        <Title order={2} size="h4">
          {t('title')}
        </Title>
        {mayCurate(owner) && <CreateEntry types={choices.data?.entryTypes ?? []} />}
      </Group>
      <KeepTyped>
        <GuidePanel onSaved={choices.reload} />
      </KeepTyped>
      <Group align="end">
        <SearchField value={filters.get('q')} onChange={(q) => filters.set({ q })} />
        <Button variant="default" onClick={toggle} aria-expanded={opened} aria-controls="entry-filters">
          {narrowed > 0 ? t('filtersSet', { count: narrowed }) : ui('filters')}
        </Button>
      </Group>
      <Collapse expanded={opened} id="entry-filters">
        <FilterPanel filters={filters} choices={choices.data} />
      </Collapse>
      {filters.get('cites') !== '' && (
        <Group gap="xs">
          <Text size="sm">{t('citing')}</Text>
          <Button variant="default" size="compact-xs" onClick={() => filters.set({ cites: null })}>
            {ui('clear')}
          </Button>
        </Group>
      )}
      <div>
        <Rows pages={pages} empty={filters.any ? t('noneFound') : t('none')}>
          {(rows) => <EntryRows rows={rows} />}
        </Rows>
      </div>
    </Stack>
  )
}
