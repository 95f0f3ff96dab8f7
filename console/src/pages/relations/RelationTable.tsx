/** The same relations as a table. */
import { Anchor, Button, Table } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router'

import { useOwner } from '../../app/owner'
import { entryPath } from '../../app/paths'
import { ShownOf } from '../../ui/ShownOf'
import { Told } from '../../ui/Told'
import { useValidity } from '../../ui/validity'
import { Evidence } from './Evidence'
import type { Neighborhood, Relation } from './queries'

const FIRST_ROWS = 20

export function RelationTable({
  found,
  selected,
  told,
  onSelect,
}: {
  found: Neighborhood
  selected: string | null
  /** Whether what the selected one rests on is told under its row. */
  told: boolean
  onSelect: (id: string) => void
}) {
  const { t } = useTranslation('relations')
  const [most, setMost] = useState(FIRST_ROWS)
  const rows = found.relations.slice(0, most)
  return (
    <>
      <Table.ScrollContainer minWidth={560}>
        <Table aria-label={t('title')} highlightOnHover>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t('subject')}</Table.Th>
              <Table.Th>{t('type')}</Table.Th>
              <Table.Th>{t('object')}</Table.Th>
              <Table.Th>{t('validity')}</Table.Th>
              <Table.Th>{t('quotes')}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map((relation) => (
              <Row
                key={relation.id}
                relation={relation}
                selected={relation.id === selected}
                told={told && relation.id === selected}
                onSelect={onSelect}
              />
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      {found.relations.length > FIRST_ROWS && (
        <ShownOf
          shown={rows.length}
          total={found.relations.length}
          // As many again each time: a few steps lead through thousands.
          onMore={rows.length < found.relations.length ? () => setMost(2 * most) : undefined}
        />
      )}
    </>
  )
}

function Row({
  relation,
  selected,
  told,
  onSelect,
}: {
  relation: Relation
  selected: boolean
  told: boolean
  onSelect: (id: string) => void
}) {
  const { t } = useTranslation('relations')
  const holds = useValidity()(relation)
  return (
    <>
      <Table.Tr>
        <Table.Td>
          <EntryLink entry={relation.subject} />
        </Table.Td>
        <Table.Td>
          <Told>{relation.type}</Told>
        </Table.Td>
        <Table.Td>
          <EntryLink entry={relation.object} />
        </Table.Td>
        <Table.Td>{holds}</Table.Td>
        <Table.Td>
          <Button
            size="compact-xs"
            variant={selected ? 'filled' : 'default'}
            aria-pressed={selected}
            onClick={() => onSelect(relation.id)}
          >
            {t('show')} ({relation.evidence.length})
          </Button>
        </Table.Td>
      </Table.Tr>
      {told && (
        <Table.Tr>
          <Table.Td colSpan={5}>
            <Evidence relation={relation} />
          </Table.Td>
        </Table.Tr>
      )}
    </>
  )
}

function EntryLink({ entry }: { entry: { id: string; name: string } }) {
  const owner = useOwner()
  return (
    <Anchor component={Link} to={entryPath(owner.id, entry.id, 'relations')} size="sm">
      <Told>{entry.name}</Told>
    </Anchor>
  )
}
