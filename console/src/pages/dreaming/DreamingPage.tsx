/** The Dreaming tab: curation now, its live state and result, how much survives, earlier runs (CO-45 to CO-50). */
import { Button, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'

import { usePages } from '../../api/usePages'
import { useWrite } from '../../api/useWrite'
import { mayCurate, useOwner } from '../../app/owner'
import { useFilters } from '../../app/useFilters'
import { FaultNotice } from '../../ui/FaultNotice'
import { named } from '../../ui/invisible'
import { When } from '../../ui/When'
import { RUN_NOW, RUNS, type Run } from './queries'
import { OneRun } from './OneRun'
import { RunTable } from './RunTable'
import { active } from './runs'
import { Survival } from './Survival'

const FILTERS = ['run'] as const

/** So often the runs are read again while one of them is active: its end may be shown by nothing else (CO-48). */
const EVERY_MS = 5000

export function Component() {
  const { t } = useTranslation('dreaming')
  const owner = useOwner()
  const filters = useFilters(FILTERS)
  const [watching, setWatching] = useState(false)
  const runs = usePages(
    RUNS,
    { agent: owner.id, after: null },
    (data) => data.dreamRuns,
    watching ? { everyMs: EVERY_MS } : {},
  )
  const running = runs.rows?.find(active)
  const going = runs.rows === undefined ? watching : running !== undefined
  if (going !== watching) setWatching(going)
  const shown = filters.get('run')
  return (
    <Stack>
      <Title order={2} size="h4">
        {t('title')}
      </Title>
      {mayCurate(owner) && (
        <Start
          running={running}
          onStarted={(run) => {
            filters.set({ run })
            runs.reload()
          }}
        />
      )}
      {shown !== '' && (
        <OneRun key={shown} id={shown} onEnded={runs.reload} onClose={() => filters.set({ run: null })} />
      )}
      <Survival agent={owner.id} />
      <Title order={3} size="h4">
        {t('runs')}
      </Title>
      <RunTable runs={runs} onShow={(run) => filters.set({ run })} />
    </Stack>
  )
}

function Start({ running, onStarted }: { running: Run | undefined; onStarted: (id: string) => void }) {
  const { t } = useTranslation('dreaming')
  const owner = useOwner()
  const start = useWrite(RUN_NOW)
  const runNow = async () => {
    const made = await start.run({ agent: owner.id })
    if (made) onStarted(made.runDreaming.id)
  }
  return (
    <Paper withBorder p="md">
      <Group justify="space-between">
        <Text size="sm" maw="40rem">
          {t('runHint', { name: named(owner.name) })}
        </Text>
        <Group>
          {running && (
            <Text size="sm" role="status">
              <Since run={running} />
            </Text>
          )}
          <Button onClick={() => void runNow()} loading={start.busy} disabled={running !== undefined}>
            {t('run')}
          </Button>
        </Group>
      </Group>
      {start.fault && <FaultNotice fault={start.fault} />}
    </Paper>
  )
}

function Since({ run }: { run: Run }) {
  const { t } = useTranslation('dreaming')
  const [before = '', after = ''] = t(run.state === 'QUEUED' ? 'queued' : 'running', { at: '\n' }).split('\n')
  return (
    <>
      {before}
      <When at={run.startedAt} />
      {after}
    </>
  )
}
