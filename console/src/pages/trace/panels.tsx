/** What is known of the node or the link that is selected. */
import { Anchor, Blockquote, Button, Group, Paper, Stack, Table, Text, Title } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { Link as RouterLink } from 'react-router'

import type { ResultOf } from '../../api/graphql'
import { useRead } from '../../api/useRead'
import { useOwner } from '../../app/owner'
import { entryPath, tracePath } from '../../app/paths'
import { DownloadButton } from '../../ui/DownloadButton'
import { FaultNotice } from '../../ui/FaultNotice'
import { Loading } from '../../ui/Remote'
import { Told } from '../../ui/Told'
import { When } from '../../ui/When'
import { useLabel } from './labels'
import { bundles, wordFor } from './linkIds'
import { NODE_DETAIL, type TraceNode } from './queries'
import type { Trace } from './useTrace'

type Detail = NonNullable<ResultOf<typeof NODE_DETAIL>['node']>

export function NodePanel({ node, trace, onWhy }: { node: TraceNode; trace: Trace; onWhy: () => void }) {
  const { t } = useTranslation('trace')
  const labelOf = useLabel()
  const owner = useOwner()
  const read = useRead(NODE_DETAIL, { id: node.id })
  const label = labelOf(node)
  const more = trace.hidden.get(node.id) ?? 0
  return (
    <Paper withBorder p="md" component="section" aria-label={label.kind}>
      <Stack gap="xs">
        <Title order={3} size="h5">
          {label.kind}
        </Title>
        {read.fault && <FaultNotice fault={read.fault} retry={read.reload} />}
        {read.data?.node ? (
          <Details detail={read.data.node} label={label.text} />
        ) : (
          read.loading && <Loading />
        )}
        <Group gap="xs">
          {trace.open.has(node.id) ? (
            <Button size="xs" variant="default" onClick={() => trace.shrink(node.id)}>
              {t('shrink')}
            </Button>
          ) : (
            <Button size="xs" variant="default" loading={trace.busy} onClick={() => trace.expand(node.id)}>
              {more > 0 ? t('expandMore', { count: more }) : t('expand')}
            </Button>
          )}
          <Button size="xs" variant="default" onClick={onWhy}>
            {t('why.button')}
          </Button>
          <Anchor component={RouterLink} to={tracePath(owner.id, node.id)} size="sm">
            {t('traceHere')}
          </Anchor>
          {node.__typename === 'Entry' && (
            <Anchor component={RouterLink} to={entryPath(owner.id, node.id)} size="sm">
              {t('kinds.Entry')}
            </Anchor>
          )}
        </Group>
      </Stack>
    </Paper>
  )
}

function Details({ detail, label }: { detail: Detail; label: string }) {
  const { t } = useTranslation('trace')
  return (
    <>
      <Text size="sm" mah="18rem" style={{ overflowY: 'auto' }} tabIndex={0}>
        <Told>{contentOf(detail) ?? label}</Told>
      </Text>
      <Table layout="fixed" variant="vertical" withTableBorder>
        <Table.Tbody>
          {factsOf(detail).map(([name, value]) => (
            <Table.Tr key={name}>
              <Table.Th w="40%">{t(`fact.${name}`)}</Table.Th>
              <Table.Td>{value}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {detail.__typename === 'Source' && <Original detail={detail} />}
    </>
  )
}

function Original({ detail }: { detail: Extract<Detail, { __typename?: 'Source' }> }) {
  const { t } = useTranslation('trace')
  return (
    <>
      {detail.address && (
        <Text size="xs">
          {t('address')}: <Told>{detail.address}</Told>
        </Text>
      )}
      {detail.downloadPath && <DownloadButton path={detail.downloadPath} label={t('openSource')} />}
    </>
  )
}

const CONTENTS = [
  'sourceText',
  'blockText',
  'lessonText',
  'lineText',
  'summary',
  'content',
  'itemText',
  'chatText',
]

function contentOf(detail: Detail): string | null {
  const texts = detail as Partial<Record<string, unknown>>
  return CONTENTS.map((name) => texts[name]).find((one): one is string => typeof one === 'string') ?? null
}

type FactName = 'said' | 'recorded' | 'by' | 'version' | 'reason'

function factsOf(detail: Detail): readonly (readonly [FactName, React.ReactNode])[] {
  switch (detail.__typename) {
    case 'Source': {
      const by = detail.author?.displayName ?? detail.speakerName
      return [
        ...(by ? ([['by', <Told key="by">{by}</Told>]] as const) : []),
        ['said', <When key="said" at={detail.occurredAt} />],
        ['recorded', <When key="recorded" at={detail.recordedAt} />],
        ['version', String(detail.sourceVersion)],
      ]
    }
    case 'BlockVersion':
      return [
        ['by', <Told key="by">{detail.modifier.displayName}</Told>],
        ['recorded', <When key="recorded" at={detail.recordedAt} />],
        ...(detail.reason === null ? [] : ([['reason', <Told key="reason">{detail.reason}</Told>]] as const)),
      ]
    case 'AuditRecord':
      return [
        ['by', <Told key="by">{detail.actor.displayName}</Told>],
        ['recorded', <When key="recorded" at={detail.recordedAt} />],
        ...(detail.auditReason === null
          ? []
          : ([['reason', <Told key="reason">{detail.auditReason}</Told>]] as const)),
      ]
    default:
      return []
  }
}

export function LinkPanel({ link: id, trace }: { link: string; trace: Trace }) {
  const { t } = useTranslation('trace')
  const labelOf = useLabel()
  const owner = useOwner()
  const link = bundles(trace.known.links).find((one) => one.id === id)
  if (!link) return null
  const ends = [link.from, link.to].flatMap((end) => trace.known.nodes.get(end) ?? [])
  return (
    <Paper withBorder p="md" component="section" aria-label={t('quote')}>
      <Stack gap="xs">
        <Title order={3} size="h5">
          {t(`links.${wordFor(link.type)}`)}
        </Title>
        {link.quotes.length === 0 && <Text size="sm">{t('noQuote')}</Text>}
        {link.quotes.map((quote, place) => (
          <Blockquote key={place} p="xs" my={0}>
            <Told>{quote}</Told>
          </Blockquote>
        ))}
        {ends.map((end) => {
          const label = labelOf(end)
          return (
            <Text key={end.id} size="sm">
              {label.kind}:{' '}
              <Anchor component={RouterLink} to={tracePath(owner.id, end.id)} size="sm">
                <Told>{label.text === '' ? t('traceHere') : label.text}</Told>
              </Anchor>
            </Text>
          )
        })}
      </Stack>
    </Paper>
  )
}
