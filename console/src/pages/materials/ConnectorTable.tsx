/** Documents that connectors manage: only to be looked at, their place changes them (CO-36, CO-40). */
import { Anchor, Code, Table, Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router'

import type { ResultOf } from '../../api/graphql'
import { usePages } from '../../api/usePages'
import { useOwner } from '../../app/owner'
import { entryPath } from '../../app/paths'
import { Mark } from '../../ui/Mark'
import { Refusal } from '../../ui/Refusal'
import { Rows } from '../../ui/Rows'
import { Sideways } from '../../ui/Sideways'
import { Told } from '../../ui/Told'
import { When } from '../../ui/When'
import { CONNECTED } from './queries'

type Document = ResultOf<typeof CONNECTED>['connectorMaterials']['edges'][number]['node']

export function ConnectorTable() {
  const { t } = useTranslation('materials')
  const owner = useOwner()
  const pages = usePages(CONNECTED, { owner: owner.id, after: null }, (data) => data.connectorMaterials)
  return (
    <Rows pages={pages} empty={t('noConnected')}>
      {(rows) => (
        <Sideways label={t('connected')} minWidth={640}>
          <Table verticalSpacing="xs" aria-label={t('connected')}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{t('column.name')}</Table.Th>
                <Table.Th>{t('column.connector')}</Table.Th>
                <Table.Th>{t('column.version')}</Table.Th>
                <Table.Th>{t('column.synced')}</Table.Th>
                <Table.Th>{t('column.state')}</Table.Th>
                <Table.Th>{t('column.error')}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {rows.map((row) => (
                <Row key={`${row.connector.id} ${row.name}`} of={row} />
              ))}
            </Table.Tbody>
          </Table>
        </Sideways>
      )}
    </Rows>
  )
}

const SIGNS: Record<string, string> = { live: '●', withdrawn: '○', refused: '✕' }

function Row({ of }: { of: Document }) {
  const { t } = useTranslation('materials')
  const owner = useOwner()
  const title = of.source?.title ?? of.name
  const state = isState(of.state) ? t(`documentStates.${of.state}`) : of.state
  return (
    <Table.Tr>
      <Table.Td maw={320}>
        {of.entryId === null ? (
          <Told>{title}</Told>
        ) : (
          <Anchor component={Link} to={entryPath(owner.id, of.entryId)} fw={600}>
            <Told>{title}</Told>
          </Anchor>
        )}
        {title !== of.name && (
          <Text size="xs" c="dimmed" component="div">
            <Told>{of.name}</Told>
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        <Told>{of.connector.displayName}</Told>
      </Table.Td>
      <Table.Td maw={200}>
        <Told>{of.sourceVersion}</Told>
      </Table.Td>
      <Table.Td>
        <When at={of.connector.lastSyncAt ?? of.syncedAt} />
      </Table.Td>
      <Table.Td>
        <Mark sign={SIGNS[of.state] ?? '·'}>{state}</Mark>
      </Table.Td>
      <Table.Td maw={320}>
        <LastError of={of} />
      </Table.Td>
    </Table.Tr>
  )
}

/** Of the document itself, else of the last sync as a whole. */
function LastError({ of }: { of: Document }) {
  const { t } = useTranslation('materials')
  const code = of.problem ?? of.connector.lastError
  const words = of.problem === null ? of.connector.advice : of.reason
  if (code === null) return <>{t('noError')}</>
  return (
    <>
      <Code>{code}</Code>
      {words !== null && (
        <Text size="xs" component="div">
          <Refusal code={code}>{words}</Refusal>
        </Text>
      )}
    </>
  )
}

const isState = (state: string): state is 'live' | 'withdrawn' | 'refused' => state in SIGNS
