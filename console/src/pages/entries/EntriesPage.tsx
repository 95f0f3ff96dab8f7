/** The entries of an owner: the guide above, the search, the list (CO-11 to CO-13, CO-31). */
import { Group, Stack, Title } from '@mantine/core'
import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'

import { usePages } from '../../api/usePages'
import { useRead } from '../../api/useRead'
import { mayCurate, useOwner } from '../../app/owner'
import { useFilters } from '../../app/useFilters'
import { KeepTyped } from '../../ui/KeepTyped'
import { Loading } from '../../ui/Remote'
import { Rows } from '../../ui/Rows'
import { useOnce } from '../../ui/useOnce'
import { CreateEntry } from './CreateEntry'
import { EntryRows } from './EntryRows'
import { filterOf, FILTERS } from './filter'
import { GuidePanel } from './guide/GuidePanel'
import { GUIDE } from './guide/queries'
import { Narrowing } from './Narrowing'
import { CHOICES, ENTRIES } from './queries'

export function Component() {
  const { t } = useTranslation('entries')
  const owner = useOwner()
  const filters = useFilters(FILTERS)
  const filter = useMemo(() => filterOf(filters), [filters])
  const choices = useRead(CHOICES, { owner: owner.id })
  const guide = useRead(GUIDE, { owner: owner.id })
  const pages = usePages(ENTRIES, { owner: owner.id, filter, after: null }, (data) => data.entries)
  // The guide above pushes nothing down when it comes.
  const come = useOnce(guide.data !== undefined || guide.fault !== undefined)
  return (
    <Stack>
      <Group justify="space-between">
        <Title order={2} size="h4">
          {t('title')}
        </Title>
        {mayCurate(owner) && <CreateEntry types={choices.data?.entryTypes ?? []} />}
      </Group>
      <KeepTyped>
        <GuidePanel read={guide} onSaved={choices.reload} />
      </KeepTyped>
      {come ? (
        <>
          <Narrowing filters={filters} choices={choices.data} />
          <div>
            <Rows pages={pages} empty={filters.any ? t('noneFound') : t('none')}>
              {(rows) => <EntryRows rows={rows} />}
            </Rows>
          </div>
        </>
      ) : (
        <Loading />
      )}
    </Stack>
  )
}
