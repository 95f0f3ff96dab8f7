/** The records, newest first; each can be opened, and selected if it can be undone (CO-52, CO-55). */
import { Anchor, Badge, Checkbox, Table, Text } from '@mantine/core'
import { memo } from 'react'
import { useTranslation } from 'react-i18next'

import { type FragmentOf, readFragment } from '../../api/graphql'
import type { Pages } from '../../api/usePages'
import { mayCurate, useOwner } from '../../app/owner'
import { Rows } from '../../ui/Rows'
import { Sideways } from '../../ui/Sideways'
import { Told } from '../../ui/Told'
import { When } from '../../ui/When'
import { ROW } from './documents'
import { targetName } from './target'
import { OperationName } from './OperationName'
import type { Selection } from './useSelection'

type Shown = FragmentOf<typeof ROW>

export function Records({
  pages,
  selection,
  onOpen,
}: {
  pages: Pages<Shown>
  selection: Selection
  onOpen: (id: string) => void
}) {
  const { t } = useTranslation('audit')
  return (
    <Rows pages={pages} empty={t('empty')}>
      {(rows) => <RecordTable rows={rows} selection={selection} onOpen={onOpen} />}
    </Rows>
  )
}

export function RecordTable({
  rows,
  selection,
  onOpen,
}: {
  rows: readonly Shown[]
  selection?: Selection
  onOpen: (id: string) => void
}) {
  const { t } = useTranslation('audit')
  const selects = mayCurate(useOwner()) && selection !== undefined
  return (
    <Sideways label={t('records')} minWidth={720}>
      <Table verticalSpacing="xs" aria-label={t('records')}>
        <Table.Thead>
          <Table.Tr>
            {selects && <Table.Th>{t('column.select')}</Table.Th>}
            <Table.Th>{t('column.time')}</Table.Th>
            <Table.Th ta="end">{t('column.seq')}</Table.Th>
            <Table.Th>{t('column.actor')}</Table.Th>
            <Table.Th>{t('column.operation')}</Table.Th>
            <Table.Th>{t('column.target')}</Table.Th>
            <Table.Th>{t('column.reason')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row) => {
            const { id } = readFragment(ROW, row)
            return (
              <Row
                key={id}
                row={row}
                onOpen={onOpen}
                {...(selects ? { checked: selection.has(id), onToggle: selection.toggle } : {})}
              />
            )
          })}
        </Table.Tbody>
      </Table>
    </Sideways>
  )
}

/** Remembered, so that selecting thousands draws anew only what changed. */
const Row = memo(function Row({
  row,
  checked,
  onToggle,
  onOpen,
}: {
  row: Shown
  checked?: boolean
  onToggle?: Selection['toggle']
  onOpen: (id: string) => void
}) {
  const { t } = useTranslation(['audit', 'ui'])
  const record = readFragment(ROW, row)
  const { id, seq } = record
  return (
    <Table.Tr>
      {onToggle && (
        <Table.Td>
          {record.restorable && (
            <Checkbox
              aria-label={t('selectRecord', { seq })}
              checked={checked ?? false}
              onChange={(event) => onToggle(id, record.recordedAt, event.currentTarget.checked)}
            />
          )}
        </Table.Td>
      )}
      <Table.Td>
        <When at={record.recordedAt} />
      </Table.Td>
      <Table.Td ta="end">{seq}</Table.Td>
      <Table.Td>
        <Told>{record.actor.displayName}</Told>
        <Text size="xs" c="dimmed">
          {t(`ui:actor.${record.actorKind}`)}
        </Text>
      </Table.Td>
      <Table.Td>
        <Anchor component="button" type="button" size="sm" ta="start" onClick={() => onOpen(id)}>
          <OperationName of={record.operation} />
        </Anchor>
        {record.restoredBy.length > 0 && (
          <Badge variant="light" size="sm" display="block" w="fit-content">
            {t('undone')}
          </Badge>
        )}
      </Table.Td>
      <Table.Td>
        <Told>{targetName(record)}</Told>
        {record.target === null && (
          <Text size="xs" c="dimmed">
            {t('gone')}
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        <Told>{record.reason ?? ''}</Told>
      </Table.Td>
    </Table.Tr>
  )
})
