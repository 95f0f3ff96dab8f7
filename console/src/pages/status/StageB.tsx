/** Stage B of the agent: what waits, how the last run went, why none can start (CO-66). */
import { Anchor, Code, Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router'

import { useOwner } from '../../app/owner'
import { tabPath } from '../../app/paths'
import { Refusal } from '../../ui/Refusal'
import { When } from '../../ui/When'
import { Facts, Section } from './Section'
import type { Status } from './StatusPage'
import { en } from './texts'

export function StageB({ stage }: { stage: Status['stageB'] }) {
  const { t } = useTranslation('status')
  const owner = useOwner()
  return (
    <Section id="stage-b" title={t('stageB.title')}>
      {stage.unavailable !== null && (
        <Text>
          {t('stageB.unavailable')} <Code>{stage.unavailable}</Code>{' '}
          {isKnown(stage.unavailable) && t(`unavailable.${stage.unavailable}`)}
        </Text>
      )}
      <Facts
        facts={[
          [t('pending'), <Pending key="pending" stage={stage} />],
          [
            t('oldestPending'),
            stage.oldestPendingAt === null ? '–' : <When key="o" at={stage.oldestPendingAt} />,
          ],
          [t('stageB.lastRun'), <LastRun key="run" run={stage.lastRun} />],
          [t('lastSuccess'), <When key="s" at={stage.lastSuccessAt} />],
        ]}
      />
      <Anchor component={Link} to={tabPath(owner.id, 'dreaming')} size="sm">
        {t('stageB.runs')}
      </Anchor>
    </Section>
  )
}

function Pending({ stage }: { stage: Status['stageB'] }) {
  const { t } = useTranslation('status')
  const parts = stage.pending.map(({ kind, count }) => `${isItem(kind) ? t(`item.${kind}`) : kind}: ${count}`)
  return <>{[stage.pendingTotal, ...parts].join(' · ')}</>
}

function LastRun({ run }: { run: Status['stageB']['lastRun'] }) {
  const { t } = useTranslation('status')
  if (run === null) return <>{t('stageB.noRun')}</>
  return (
    <>
      {t(`run.${run.state}`)}, <When at={run.startedAt} />
      {run.error !== null && (
        <>
          {' '}
          <Code>{run.error}</Code> <Refusal code={run.error}>{run.advice ?? ''}</Refusal>
        </>
      )}
    </>
  )
}

const isKnown = (code: string): code is keyof typeof en.unavailable => code in en.unavailable
const isItem = (kind: string): kind is keyof typeof en.item => kind in en.item
