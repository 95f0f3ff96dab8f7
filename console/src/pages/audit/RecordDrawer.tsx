/** One record, opened: its difference, its change's other records, what it restores and what restored it (CO-52). */
import { Anchor, Button, Code, Drawer, Group, Stack, Table, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router'

import { type FragmentOf, readFragment, type ResultOf } from '../../api/graphql'
import { usePages } from '../../api/usePages'
import { useRead } from '../../api/useRead'
import { mayCurate, useOwner } from '../../app/owner'
import { tabPath } from '../../app/paths'
import { Remote } from '../../ui/Remote'
import { Rows } from '../../ui/Rows'
import { Told } from '../../ui/Told'
import { shownTime, When } from '../../ui/When'
import { useFocusBack } from '../../ui/useFocusBack'
import { RECORD, RECORDS, ROW } from './documents'
import { ImageDiff } from './ImageDiff'
import { OperationName } from './OperationName'
import { RecordTable } from './Records'
import { targetName } from './target'

type Found = Extract<ResultOf<typeof RECORD>['node'], { __typename: 'AuditRecord' }>

/** The part of it that rows show, too. */
const rowOf = (found: FragmentOf<typeof ROW>) => readFragment(ROW, found)

type Ways = { onOpen: (id: string) => void; onPreview: (id: string) => void }

export function RecordDrawer({ id, onClose, ...ways }: Ways & { id: string; onClose: () => void }) {
  useFocusBack()
  const { t } = useTranslation(['audit', 'ui'])
  const read = useRead(RECORD, { id })
  return (
    <Drawer
      opened
      onClose={onClose}
      position="right"
      size="xl"
      title={t('record')}
      closeButtonProps={{ 'aria-label': t('ui:close') }}
    >
      <Remote read={read} pick={({ node }) => (node?.__typename === 'AuditRecord' ? node : null)}>
        {(found) => <Opened found={found} {...ways} />}
      </Remote>
    </Drawer>
  )
}

function Opened({ found, onOpen, onPreview }: Ways & { found: Found }) {
  const { t } = useTranslation('audit')
  const owner = useOwner()
  const row = rowOf(found)
  const whole = row.operation === 'entry.delete'
  return (
    <Stack>
      <Group justify="space-between">
        <Title order={3} size="h4">
          <OperationName of={row.operation} />
        </Title>
        {mayCurate(owner) && row.restorable && (
          <Button size="xs" onClick={() => onPreview(row.id)}>
            {whole ? t('previewEntry') : t('previewOne')}
          </Button>
        )}
      </Group>
      <Facts found={found} onOpen={onOpen} />
      <div>
        <Title order={4} size="h5">
          {t('changed')}
        </Title>
        <ImageDiff before={row.before} after={row.after} />
      </div>
      <SameChange tx={found.txId} id={row.id} onOpen={onOpen} />
      <Proof found={found} />
    </Stack>
  )
}

function Facts({ found, onOpen }: { found: Found; onOpen: (id: string) => void }) {
  const { t, i18n } = useTranslation(['audit', 'ui'])
  const owner = useOwner()
  const row = rowOf(found)
  const audit = tabPath(owner.id, 'audit')
  const { knowledgeBase: base, dreamRun: run, restores } = found
  return (
    <Table variant="vertical" layout="fixed">
      <Table.Tbody>
        <Fact name={t('column.target')}>
          <Told>{targetName(row)}</Told>{' '}
          <Anchor
            component={Link}
            underline="always"
            to={`${audit}?target=${encodeURIComponent(row.targetId)}`}
            size="sm"
          >
            {t('allOfTarget')}
          </Anchor>
        </Fact>
        <Fact name={t('column.time')}>
          <When at={row.recordedAt} /> · {t('column.seq')} {row.seq}
        </Fact>
        <Fact name={t('column.actor')}>
          <Told>{row.actor.displayName}</Told> · {t(`ui:actor.${row.actorKind}`)}
          {found.onBehalfOf && <Told>{` · ${found.onBehalfOf.displayName}`}</Told>}
        </Fact>
        {base && (
          <Fact name={t('filter.kb')}>
            {t(`ui:kb.${base.kind}`)} {base.channel && <Told>{base.channel.displayName}</Told>}
          </Fact>
        )}
        {row.reason !== null && (
          <Fact name={t('column.reason')}>
            <Told>{row.reason}</Told>
          </Fact>
        )}
        {run && (
          <Fact name={t('filter.run')}>
            <Anchor component={Link} to={`${audit}?run=${encodeURIComponent(run.id)}`} size="sm">
              {t('filter.runOf', { stage: run.stage, when: shownTime(run.startedAt, i18n.language) })}
            </Anchor>
          </Fact>
        )}
        {restores && (
          <Fact name={t('restores')}>
            <Other id={restores.id} onOpen={onOpen}>
              <OperationName of={restores.operation} /> ({restores.seq})
            </Other>
          </Fact>
        )}
        {found.restoredBy.length > 0 && (
          <Fact name={t('restoredBy')}>
            {found.restoredBy.map(({ id, seq, recordedAt }) => (
              <Other key={id} id={id} onOpen={onOpen}>
                {shownTime(recordedAt, i18n.language)} ({seq})
              </Other>
            ))}
          </Fact>
        )}
      </Table.Tbody>
    </Table>
  )
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <Table.Tr>
      <Table.Th w={130}>{name}</Table.Th>
      <Table.Td>{children}</Table.Td>
    </Table.Tr>
  )
}

function Other({ id, onOpen, children }: { id: string; onOpen: (id: string) => void; children: ReactNode }) {
  return (
    <Anchor component="button" type="button" size="sm" me="xs" onClick={() => onOpen(id)}>
      {children}
    </Anchor>
  )
}

/** The other records of the transaction: what was done together. */
function SameChange({ tx, id, onOpen }: { tx: string; id: string; onOpen: (id: string) => void }) {
  const { t } = useTranslation('audit')
  const owner = useOwner()
  const pages = usePages(RECORDS, { filter: { ownerId: owner.id, txId: tx } }, (data) => data.auditLog)
  const isOther = (row: NonNullable<typeof pages.rows>[number]) => readFragment(ROW, row).id !== id
  return (
    <div>
      <Title order={4} size="h5">
        {t('sameChange')}
      </Title>
      {pages.rows?.every((row) => !isOther(row)) ? (
        <Text size="sm" c="dimmed">
          {t('alone')}
        </Text>
      ) : (
        <Rows pages={pages}>{(rows) => <RecordTable rows={rows.filter(isOther)} onOpen={onOpen} />}</Rows>
      )}
    </div>
  )
}

function Proof({ found }: { found: Found }) {
  const { t } = useTranslation('audit')
  return (
    <Stack gap={2}>
      <Text size="xs" c="dimmed">
        {t('hash')} <Code>{found.hash}</Code>
      </Text>
      <Text size="xs" c="dimmed">
        {t('prevHash')} <Code>{found.prevHash}</Code>
      </Text>
    </Stack>
  )
}
