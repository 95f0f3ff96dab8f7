/** The entries as a table: what each is, where it lives, who changed it last and what needs a look (CO-13). */
import { Anchor, Group, Table, Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router'

import type { ResultOf } from '../../api/graphql'
import { useOwner } from '../../app/owner'
import { entryPath } from '../../app/paths'
import { useBaseName } from '../../ui/baseName'
import { Mark } from '../../ui/Mark'
import { Told } from '../../ui/Told'
import { When } from '../../ui/When'
import type { ENTRIES } from './queries'

export type EntryRow = ResultOf<typeof ENTRIES>['entries']['edges'][number]['node']

export function EntryRows({ rows }: { rows: readonly EntryRow[] }) {
  const { t } = useTranslation('entries')
  return (
    <Table.ScrollContainer minWidth={720}>
      <Table verticalSpacing="xs" highlightOnHover>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('column.name')}</Table.Th>
            <Table.Th>{t('column.type')}</Table.Th>
            <Table.Th>{t('column.kb')}</Table.Th>
            <Table.Th ta="end">{t('column.blocks')}</Table.Th>
            <Table.Th>{t('column.author')}</Table.Th>
            <Table.Th>{t('column.updated')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row) => (
            <OneRow key={row.id} row={row} />
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}

function OneRow({ row }: { row: EntryRow }) {
  const owner = useOwner()
  const baseName = useBaseName()
  return (
    <Table.Tr>
      <Table.Td maw={420}>
        <Group gap="xs">
          <Anchor component={Link} to={entryPath(owner.id, row.id)} fw={600}>
            <Told>{row.name}</Told>
          </Anchor>
          <Marks row={row} />
        </Group>
        {row.summary !== '' && (
          <Text size="sm" c="dimmed" lineClamp={1} component="div">
            <Told>{row.summary}</Told>
          </Text>
        )}
      </Table.Td>
      <Table.Td>{row.type}</Table.Td>
      <Table.Td>
        <Told>{baseName(row.knowledgeBase)}</Told>
      </Table.Td>
      <Table.Td ta="end">{row.marks.blocks}</Table.Td>
      <Table.Td>{row.lastModifier && <Told>{row.lastModifier.displayName}</Told>}</Table.Td>
      <Table.Td>
        <When at={row.updatedAt} />
      </Table.Td>
    </Table.Tr>
  )
}

function Marks({ row }: { row: EntryRow }) {
  const { t } = useTranslation('entries')
  return (
    <>
      {row.readOnly && <Mark sign="⧉">{t('mark.mirror')}</Mark>}
      {row.marks.disputed && <Mark sign="⇄">{t('mark.disputed')}</Mark>}
      {row.marks.stale && <Mark sign="⌛">{t('mark.stale')}</Mark>}
    </>
  )
}
