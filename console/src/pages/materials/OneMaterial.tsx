/** One file: how far its learning is, the unchanged original, and what came of it (CO-38). */
import { Alert, Anchor, Button, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { useEffect } from 'react'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router'
import { useSubscription } from 'urql'

import { useRead } from '../../api/useRead'
import { useWrite } from '../../api/useWrite'
import { useOwner } from '../../app/owner'
import { tabPath } from '../../app/paths'
import { useBaseName } from '../../ui/baseName'
import { DownloadButton } from '../../ui/DownloadButton'
import { FaultNotice } from '../../ui/FaultNotice'
import { Refusal } from '../../ui/Refusal'
import { Remote } from '../../ui/Remote'
import { Told } from '../../ui/Told'
import { TraceLink } from '../../ui/TraceLink'
import { When } from '../../ui/When'
import { CitingEntries } from './CitingEntries'
import { learned, LearningMark } from './LearningMark'
import { type Material, ONE_MATERIAL, PROGRESS, RETRY } from './queries'
import { ReplaceFile } from './ReplaceFile'
import { shownSize } from './size'

export function OneMaterial({ id }: { id: string }) {
  const { t } = useTranslation('materials')
  const owner = useOwner()
  const read = useRead(ONE_MATERIAL, { id })
  return (
    <Stack>
      <Anchor component={Link} to={tabPath(owner.id, 'materials')} size="sm">
        {t('back')}
      </Anchor>
      <Remote read={read} pick={(data) => data.material}>
        {(material) => <Watched key={material.stateAt} material={material} onChange={read.reload} />}
      </Remote>
    </Stack>
  )
}

/** Follows the learning of a material to its end. */
function Watched({ material, onChange }: { material: Material; onChange: () => void }) {
  const { t } = useTranslation('materials')
  const [{ data }] = useSubscription({
    query: PROGRESS,
    variables: { id: material.id },
    pause: learned(material),
  })
  const now = data?.learningProgress ?? material
  const over = learned(now) && !learned(material)
  useEffect(() => {
    if (over) onChange()
    // eslint-disable-next-line react-hooks/exhaustive-deps -- told once, when it ends
  }, [over])
  return (
    <>
      <Group justify="space-between" align="start">
        <Title order={2} size="h3">
          <Told>{now.title ?? t('untitled')}</Told>
        </Title>
        <TraceLink node={now.source.id} what={now.title ?? t('untitled')} />
      </Group>
      <Facts of={now} />
      <State of={now} onChange={onChange} />
      <CitingEntries key={now.state} source={now.source.id} />
    </>
  )
}

function Facts({ of }: { of: Material }) {
  const { t, i18n } = useTranslation('materials')
  const baseName = useBaseName()
  return (
    <Text size="sm" c="dimmed" component="div">
      {of.knowledgeBase && (
        <>
          <Told>{baseName(of.knowledgeBase)}</Told> ·{' '}
        </>
      )}
      {of.sizeBytes !== null && <>{shownSize(of.sizeBytes, i18n.language)} · </>}
      {of.mediaType !== null && (
        <>
          <Told>{of.mediaType}</Told> ·{' '}
        </>
      )}
      {t('version', { version: of.version })} · {t('submitted')} <When at={of.submittedAt} />
      {of.submitter && (
        <>
          {' · '}
          <Told>{of.submitter.displayName}</Told>
        </>
      )}
    </Text>
  )
}

/** The learning state, and all that can be done with the file. */
function State({ of, onChange }: { of: Material; onChange: () => void }) {
  const { t } = useTranslation('materials')
  const writable = of.knowledgeBase?.writable ?? false
  const retry = useWrite(RETRY)
  const again = async () => {
    if (await retry.run({ id: of.id })) onChange()
  }
  return (
    <Paper withBorder p="md" component="section" aria-label={t('learning')}>
      <Stack gap="sm">
        <Title order={3} size="h5">
          {t('learning')}
        </Title>
        <Group gap="sm" role="status">
          <LearningMark of={of} />
          {of.stateAt !== null && (
            <Text size="sm" c="dimmed">
              {t('since')} <When at={of.stateAt} />
            </Text>
          )}
        </Group>
        <Text size="sm">
          {of.reason === null ? t(`stateHints.${of.state}`) : <Refusal code={of.code}>{of.reason}</Refusal>}
        </Text>
        {!of.source.latest && <Alert color="blue">{t('replaced')}</Alert>}
        <Group gap="xs">
          {of.source.downloadPath !== null && (
            <DownloadButton path={of.source.downloadPath} label={t('download')} />
          )}
          {writable && of.state === 'FAILED' && of.source.latest && (
            <Button size="xs" variant="default" loading={retry.busy} onClick={() => void again()}>
              {t('retry')}
            </Button>
          )}
          {writable && of.source.latest && of.kind === 'FILE' && <ReplaceFile material={of} />}
        </Group>
        {retry.fault && <FaultNotice fault={retry.fault} />}
      </Stack>
    </Paper>
  )
}
