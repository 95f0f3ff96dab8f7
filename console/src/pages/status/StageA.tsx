/** Stage A of each channel that the user reads; of the others an admin is told a number (CO-66, CO-68). */
import { Code, Table, Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'

import { Told } from '../../ui/Told'
import { When } from '../../ui/When'
import { Figures, Section } from './Section'
import type { Status } from './StatusPage'

type Row = Status['stageA'][number]

export function StageA({ channels, unread }: { channels: readonly Row[]; unread: Status['unread'] }) {
  const { t } = useTranslation('status')
  const heads = [
    t('stageA.channel'),
    t('stageA.scope'),
    t('stageA.routing'),
    t('pending'),
    t('stageA.carried'),
    t('oldestPending'),
    t('lastSuccess'),
    t('attempts'),
    t('lastError'),
  ]
  return (
    <Section id="stage-a" title={t('stageA.title')}>
      {channels.length === 0 ? (
        <Text>{t('stageA.none')}</Text>
      ) : (
        <Figures label={t('stageA.title')} heads={heads} minWidth={820}>
          {channels.map((row, place) => (
            <ChannelRow key={`${row.channel?.id ?? place} ${row.scope}`} row={row} />
          ))}
        </Figures>
      )}
      {unread && unread.laggingChannels > 0 && (
        <Text>{t('stageA.lagging', { count: unread.laggingChannels })}</Text>
      )}
      {unread && unread.failingChannels > 0 && (
        <Text>{t('stageA.failing', { count: unread.failingChannels })}</Text>
      )}
    </Section>
  )
}

function ChannelRow({ row }: { row: Row }) {
  const { t } = useTranslation(['status', 'ui'])
  return (
    <Table.Tr>
      <Table.Th scope="row">{row.channel ? <Told>{row.channel.displayName}</Told> : '–'}</Table.Th>
      <Table.Td>{t(`ui:kb.${row.scope}`)}</Table.Td>
      <Table.Td>{row.channel?.routing ? <Routing rule={row.channel.routing} /> : '–'}</Table.Td>
      <Table.Td>{row.pending}</Table.Td>
      <Table.Td>{row.carried}</Table.Td>
      <Table.Td>{row.oldestPendingAt === null ? '–' : <When at={row.oldestPendingAt} />}</Table.Td>
      <Table.Td>
        <When at={row.lastSuccessAt} />
      </Table.Td>
      <Table.Td>{row.attempts}</Table.Td>
      <Table.Td>{row.lastError === null ? '–' : <Code>{row.lastError}</Code>}</Table.Td>
    </Table.Tr>
  )
}

type Rule = NonNullable<NonNullable<Row['channel']>['routing']>

function Routing({ rule }: { rule: Rule }) {
  const { t } = useTranslation('status')
  return (
    <>
      {t(`stageA.memory.${rule.memoryScope}`)}
      {rule.isolated && `, ${t('stageA.isolated')}`}
    </>
  )
}
