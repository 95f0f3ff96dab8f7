/** One run: its state as it goes on, then what it did and what was rejected (CO-46 to CO-48). */
import { Anchor, Box, Button, Code, Group, Paper, Progress, Stack, Table, Text, Title } from '@mantine/core'
import { useEffect } from 'react'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router'
import { useSubscription } from 'urql'

import { usePages } from '../../api/usePages'
import { useRead } from '../../api/useRead'
import { useOwner } from '../../app/owner'
import { tabPath } from '../../app/paths'
import { named } from '../../ui/invisible'
import { Refusal } from '../../ui/Refusal'
import { Remote } from '../../ui/Remote'
import { Rows } from '../../ui/Rows'
import { ONE_RUN, PROGRESS, REJECTIONS, type Run } from './queries'
import { ended, foundNothing } from './runs'

export function OneRun({ id, onEnded, onClose }: { id: string; onEnded: () => void; onClose: () => void }) {
  const { t } = useTranslation('dreaming')
  const read = useRead(ONE_RUN, { id })
  return (
    <Paper withBorder p="md" component="section" aria-label={t('result')}>
      <Group justify="space-between">
        <Title order={3} size="h4">
          {t('result')}
        </Title>
        <Button size="xs" variant="default" onClick={onClose}>
          {t('close')}
        </Button>
      </Group>
      {/* As high as the result of most runs, so that nothing below moves when it comes. */}
      <Box mih={120}>
        <Remote read={read} pick={(data) => (data.node?.__typename === 'DreamRun' ? data.node : null)}>
          {(run) => <Watched run={run} onEnded={onEnded} />}
        </Remote>
      </Box>
    </Paper>
  )
}

/** Follows a run to its end. */
function Watched({ run, onEnded }: { run: Run; onEnded: () => void }) {
  const [{ data }] = useSubscription({ query: PROGRESS, variables: { run: run.id }, pause: ended(run) })
  const now = data?.dreamRunProgress ?? run
  const over = ended(now)
  const watched = !ended(run)
  useEffect(() => {
    if (over && watched) onEnded()
    // eslint-disable-next-line react-hooks/exhaustive-deps -- told once, when it ends
  }, [over, watched])
  return over ? <Result run={now} /> : <Going run={now} />
}

function Going({ run }: { run: Run }) {
  const { t } = useTranslation('dreaming')
  return (
    <Stack gap="xs" mt="xs">
      <Text role="status">{t(`states.${run.state}`)}</Text>
      <Progress value={100} animated aria-label={t(`states.${run.state}`)} />
      <Counts run={run} />
    </Stack>
  )
}

function Result({ run }: { run: Run }) {
  const { t } = useTranslation('dreaming')
  const owner = useOwner()
  return (
    <Stack gap="xs" mt="xs">
      {run.error !== null && (
        <Text>
          {t(`states.${run.state}`)}: <Code>{run.error}</Code>{' '}
          <Refusal code={run.error}>{run.advice ?? ''}</Refusal>
        </Text>
      )}
      {foundNothing(run) ? (
        <Text role="status">{t('noNew')}</Text>
      ) : (
        <>
          <Counts run={run} />
          <Anchor
            component={Link}
            to={`${tabPath(owner.id, 'audit')}?run=${encodeURIComponent(run.id)}`}
            size="sm"
          >
            {t('auditAll')}
          </Anchor>
          <Rejections run={run} />
        </>
      )}
    </Stack>
  )
}

const COUNTS = [
  ['materials', 'materialsProcessed'],
  ['operations', 'operations'],
  ['skillUpdates', 'skillUpdates'],
  ['rejectedCount', 'rejected'],
] as const

function Counts({ run }: { run: Run }) {
  const { t } = useTranslation('dreaming')
  return (
    <Group gap="xl" component="dl" m={0}>
      {COUNTS.map(([name, field]) => (
        <div key={name}>
          <Text component="dt" size="sm" c="dimmed">
            {t(name)}
          </Text>
          <Text component="dd" m={0} fw={700} size="lg">
            {run[field]}
          </Text>
        </div>
      ))}
    </Group>
  )
}

function Rejections({ run }: { run: Run }) {
  const { t } = useTranslation('dreaming')
  const pages = usePages(
    REJECTIONS,
    { id: run.id, after: null },
    ({ node }) => (node?.__typename === 'DreamRun' ? node.rejections : null),
    { pause: run.rejected === 0 },
  )
  if (run.rejected === 0) return <Text size="sm">{t('rejectedNone')}</Text>
  return (
    <Rows pages={pages}>
      {(rows) => (
        <Table.ScrollContainer minWidth={480}>
          <Table aria-label={t('rejected')}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{t('operation')}</Table.Th>
                <Table.Th>{t('code')}</Table.Th>
                <Table.Th>{t('reason')}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {rows.map((one) => (
                <Table.Tr key={`${one.batchId} ${one.index}`}>
                  <Table.Td>{one.op}</Table.Td>
                  <Table.Td>
                    <Code>{one.code}</Code>
                  </Table.Td>
                  <Table.Td>
                    <Refusal code={one.code}>{named(one.reason)}</Refusal>
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
    </Rows>
  )
}
