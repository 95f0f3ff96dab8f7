/** What the selected relation rests on: its quotes, with a link to each source. */
import { Paper, Stack, Title } from '@mantine/core'
import { useTranslation } from 'react-i18next'

import { Citations } from '../../ui/Citations'
import { Told } from '../../ui/Told'
import { TraceLink } from '../../ui/TraceLink'
import type { Relation } from './queries'

export function Evidence({ relation }: { relation: Relation }) {
  const { t } = useTranslation('relations')
  const said = `${relation.subject.name} – ${relation.type} – ${relation.object.name}`
  return (
    <Paper withBorder p="md" component="section" aria-label={t('evidence')}>
      <Stack gap="xs">
        <Title order={3} size="h5">
          <Told>{said}</Told>
        </Title>
        <Citations of={relation.evidence} />
        <TraceLink node={relation.id} what={said} />
      </Stack>
    </Paper>
  )
}
