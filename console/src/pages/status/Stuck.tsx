/** Work that does not get on, with what a person can do about it (CO-66, CO-67). */
import { Button, Code, Table, Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'

import { useWrite } from '../../api/useWrite'
import { mayCurate, useOwner } from '../../app/owner'
import { ageOf } from '../../ui/age'
import { FaultNotice } from '../../ui/FaultNotice'
import { When } from '../../ui/When'
import { RELEASE_ITEM, RELEASE_JOB, RETRY } from './documents'
import { Figures, Section } from './Section'
import type { Status } from './StatusPage'

type Task = Status['stuck'][number]

export function Stuck({
  tasks,
  now,
  unread,
  reload,
}: {
  tasks: readonly Task[]
  /** When the status was taken, by the server's clock. */
  now: string
  unread: Status['unread']
  reload: () => void
}) {
  const { t } = useTranslation('status')
  const heads = [t('stuck.kind'), t('stuck.age'), t('attempts'), t('lastError'), t('stuck.action')]
  return (
    <Section id="stuck" title={t('stuck.title')}>
      {tasks.length === 0 ? (
        <Text>{t('stuck.none')}</Text>
      ) : (
        <Figures label={t('stuck.title')} heads={heads}>
          {tasks.map((task) => (
            <TaskRow key={task.id} task={task} now={now} reload={reload} />
          ))}
        </Figures>
      )}
      {unread && unread.stuckTasks > 0 && <Text>{t('stuck.unread', { count: unread.stuckTasks })}</Text>}
    </Section>
  )
}

function TaskRow({ task, now, reload }: { task: Task; now: string; reload: () => void }) {
  const { i18n } = useTranslation()
  const owner = useOwner()
  return (
    <Table.Tr>
      <Table.Th scope="row">
        <Code>{task.kind}</Code>
      </Table.Th>
      <Table.Td>
        {ageOf(task.since, Date.parse(now), i18n.language)}
        <Text size="xs" c="dimmed">
          <When at={task.since} />
        </Text>
      </Table.Td>
      <Table.Td>{task.attempts}</Table.Td>
      <Table.Td>{task.error === null ? '–' : <Code>{task.error}</Code>}</Table.Td>
      <Table.Td>{mayCurate(owner) && task.action !== null && <Act task={task} reload={reload} />}</Table.Td>
    </Table.Tr>
  )
}

function Act({ task, reload }: { task: Task; reload: () => void }) {
  const { t } = useTranslation('status')
  const { act, busy, fault } = useAction(task, reload)
  return (
    <>
      <Button size="xs" variant="default" loading={busy} onClick={act}>
        {t(task.action === 'RETRY' ? 'stuck.retry' : 'stuck.release')}
      </Button>
      {fault && <FaultNotice fault={fault} />}
    </>
  )
}

function useAction(task: Task, reload: () => void) {
  const retry = useWrite(RETRY)
  const releaseItem = useWrite(RELEASE_ITEM)
  const releaseJob = useWrite(RELEASE_JOB)
  const chosen = { RETRY: retry, RELEASE: releaseItem, RELEASE_JOB: releaseJob }[task.action ?? 'RELEASE_JOB']
  const id = task.action === 'RELEASE_JOB' ? task.id : (task.subjectId ?? task.id)
  const act = () => {
    void chosen.run({ id }).then((done: unknown) => {
      if (done !== null) reload()
    })
  }
  return { act, busy: chosen.busy, fault: chosen.fault }
}
