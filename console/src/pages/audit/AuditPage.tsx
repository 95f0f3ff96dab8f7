/** What was changed, by whom and why; and how to undo it (CO-51 to CO-62). */
import { Group, Stack, Title } from '@mantine/core'
import { useCallback, useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'

import { type FragmentOf } from '../../api/graphql'
import { usePages } from '../../api/usePages'
import { mayAudit, useOwner } from '../../app/owner'
import { useFilters } from '../../app/useFilters'
import { AuditFilters } from './AuditFilters'
import { Checklist } from './Checklist'
import { RECORDS, type ROW } from './documents'
import { auditFilter, FILTERS } from './filters'
import { RecordDrawer } from './RecordDrawer'
import { Records } from './Records'
import { RestoreModal } from './RestoreModal'
import { Restored } from './Restored'
import { isReview, ReviewBlocks } from './ReviewBlocks'
import { SelectionBar } from './SelectionBar'
import { useSelection } from './useSelection'
import { Verify } from './Verify'

const NAMES = [...FILTERS, 'record', 'review'] as const

export function Component() {
  const { t } = useTranslation('audit')
  const owner = useOwner()
  const filters = useFilters(NAMES)
  const review = filters.get('review')
  return (
    <Stack>
      <Group justify="space-between">
        <Title order={2} size="h4">
          {t('title')}
        </Title>
        {mayAudit(owner) && <Verify />}
      </Group>
      <Checklist />
      {isReview(review) ? (
        <ReviewBlocks view={review} onClose={() => filters.set({ review: null })} />
      ) : (
        <Log />
      )}
    </Stack>
  )
}

function Log() {
  const owner = useOwner()
  const filters = useFilters(NAMES)
  const narrowed = useFilters(FILTERS)
  const filter = useMemo(() => auditFilter(owner.id, narrowed), [owner.id, narrowed])
  const asked = JSON.stringify(filter)
  return <OfFilter key={asked} asked={asked} opened={filters.get('record')} />
}

/** Selection and what was restored belong to one question. */
function OfFilter({ asked, opened }: { asked: string; opened: string }) {
  const filter = useMemo(() => JSON.parse(asked) as ReturnType<typeof auditFilter>, [asked])
  const filters = useFilters(NAMES)
  const pages = usePages(RECORDS, { filter }, (data) => data.auditLog)
  const selection = useSelection(filter)
  const [previewed, setPreviewed] = useState<readonly string[]>()
  const [restored, setRestored] = useState<readonly FragmentOf<typeof ROW>[]>()
  const { set } = filters
  const open = useCallback(
    (id: string) => {
      set({ record: id })
    },
    [set],
  )
  return (
    <Stack>
      <AuditFilters />
      {restored && <Restored records={restored} onOpen={open} onClose={() => setRestored(undefined)} />}
      <SelectionBar selection={selection} total={pages.totalCount} onPreview={setPreviewed} />
      <Records pages={pages} selection={selection} onOpen={open} />
      {opened !== '' && (
        <RecordDrawer
          id={opened}
          onOpen={open}
          onClose={() => filters.set({ record: null })}
          onPreview={(id) => setPreviewed([id])}
        />
      )}
      {previewed && (
        <RestoreModal
          ids={previewed}
          onClose={() => setPreviewed(undefined)}
          onRestored={(records) => {
            setPreviewed(undefined)
            setRestored(records)
            filters.set({ record: null })
            selection.clear()
            pages.reload()
          }}
        />
      )}
    </Stack>
  )
}
