/** The only health surface of long-term memory; it reports, and repairs nothing by itself (CO-63 to CO-69). */
import { Button, Group, Stack, Text, Title } from '@mantine/core'
import { useTranslation } from 'react-i18next'

import type { ResultOf } from '../../api/graphql'
import { useRead } from '../../api/useRead'
import { useOwner } from '../../app/owner'
import { Loading, Remote } from '../../ui/Remote'
import { useOnce } from '../../ui/useOnce'
import { Alerts } from './Alerts'
import { STATUS } from './documents'
import { Embedding } from './Embedding'
import { Help } from './Help'
import { Lint } from './Lint'
import { Memos } from './Memos'
import { StageA } from './StageA'
import { StageB } from './StageB'
import { Stuck } from './Stuck'
import { useHashScroll } from './useHashScroll'
import { useLint } from './useLint'
import { Vectors } from './Vectors'

const EVERY_MS = 30_000

export type Status = ResultOf<typeof STATUS>['status']

export function Component() {
  const { t } = useTranslation('status')
  const owner = useOwner()
  const read = useRead(STATUS, { owner: owner.id }, { everyMs: EVERY_MS })
  const lint = useLint(owner.id, EVERY_MS)
  const { rows, fault } = lint.findings
  // Shown together: what comes later would push down the help, or the section that the address names.
  const come = useOnce(read.data !== undefined && (rows !== undefined || fault !== undefined))
  useHashScroll(come)
  const reload = () => {
    read.reload()
    lint.findings.reload()
  }
  return (
    <Stack>
      <Group justify="space-between">
        <Title order={2} size="h4">
          {t('title')}
        </Title>
        <Group gap="xs">
          <AsOf at={read.data?.status.at} />
          <Button variant="default" size="xs" loading={read.loading} onClick={reload}>
            {t('refresh')}
          </Button>
        </Group>
      </Group>
      <Remote read={read} pick={(data) => data.status}>
        {(status) => (come ? <Sections status={status} lint={lint} reload={reload} /> : <Loading />)}
      </Remote>
      {(come || read.fault) && <Help />}
    </Stack>
  )
}

/** In the order of a check: first the alerts, then down the pipelines (CO-65). */
function Sections({
  status,
  lint,
  reload,
}: {
  status: Status
  lint: ReturnType<typeof useLint>
  reload: () => void
}) {
  return (
    <>
      <Alerts alerts={status.alerts} />
      <Vectors vectors={status.vectors} />
      <Embedding embedding={status.embedding} />
      <StageA channels={status.stageA} unread={status.unread} />
      <StageB stage={status.stageB} />
      <Memos memos={status.memos} />
      <Stuck tasks={status.stuck} now={status.at} unread={status.unread} reload={reload} />
      <Lint counts={status.lint} {...lint} />
    </>
  )
}

/** Its place is kept before the time is known. */
function AsOf({ at }: { at: string | undefined }) {
  const { t, i18n } = useTranslation('status')
  const time = new Intl.DateTimeFormat(i18n.language, { dateStyle: 'medium', timeStyle: 'medium' })
  return (
    <Text size="sm" c="dimmed" {...(at === undefined ? { style: { visibility: 'hidden' } } : {})}>
      <time dateTime={at}>{t('asOf', { when: time.format(new Date(at ?? 0)) })}</time>
    </Text>
  )
}
