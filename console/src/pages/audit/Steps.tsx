/** What a restore would do, record by record in the order of execution (CO-53, CO-55, CO-56). */
import { Badge, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'

import { readFragment, type ResultOf } from '../../api/graphql'
import { ShownOf } from '../../ui/ShownOf'
import { Told } from '../../ui/Told'
import { When } from '../../ui/When'
import { type PREVIEW, ROW } from './documents'
import { ImageDiff } from './ImageDiff'
import { Omitted } from './Omitted'
import { OperationName } from './OperationName'
import { targetName } from './target'

type Step = ResultOf<typeof PREVIEW>['restorePreview']['steps'][number]

const AT_ONCE = 20

export function Steps({ steps }: { steps: readonly Step[] }) {
  const { t } = useTranslation('audit')
  const [shown, setShown] = useState(AT_ONCE)
  const conflicts = steps.filter((step) => step.conflict)
  // Conflicts decide; of long lists they are shown first.
  const ordered = steps.length > AT_ONCE ? [...conflicts, ...steps.filter((step) => !step.conflict)] : steps
  return (
    <div>
      <Stack gap="xs" component="ol" p={0} m={0} aria-label={t('steps')}>
        {ordered.slice(0, shown).map((step) => (
          <OneStep key={readFragment(ROW, step.record).id} step={step} place={steps.indexOf(step) + 1} />
        ))}
      </Stack>
      {steps.length > AT_ONCE && (
        <ShownOf
          shown={Math.min(shown, ordered.length)}
          total={ordered.length}
          onMore={shown < ordered.length ? () => setShown(shown + AT_ONCE) : undefined}
        />
      )}
    </div>
  )
}

function OneStep({ step, place }: { step: Step; place: number }) {
  const { t } = useTranslation('audit')
  const record = readFragment(ROW, step.record)
  return (
    <Paper component="li" withBorder p="sm" display="block">
      <Group gap="xs" mb="xs">
        <Text size="sm" c="dimmed">
          {place}
        </Text>
        <Title order={3} size="h5">
          <OperationName of={record.operation} />
        </Title>
        <Told>{targetName(record)}</Told>
        <Text size="xs" c="dimmed">
          <When at={record.recordedAt} />
        </Text>
        {step.conflict && <Badge color="red">{t('conflict')}</Badge>}
        {step.nameTakenBy !== null && <Badge color="red">{t('nameTakenMark')}</Badge>}
      </Group>
      {step.conflict && <Text size="sm">{t('conflictMeans')}</Text>}
      <ImageDiff before={step.current} after={step.restored} />
      {step.omittedRelations.length > 0 && <Omitted record={record} ids={step.omittedRelations} />}
    </Paper>
  )
}
