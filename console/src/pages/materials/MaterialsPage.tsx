/** The Materials tab: what the Agent was given to learn from, and one of these opened (CO-34 to CO-41). */
import { Group, Stack, Title } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useParams } from 'react-router'

import { usePages } from '../../api/usePages'
import { mayCurate, useOwner } from '../../app/owner'
import { useOnce } from '../../ui/useOnce'
import { ConnectorTable } from './ConnectorTable'
import { FileTable } from './FileTable'
import { LearnMaterial } from './learn/LearnMaterial'
import { learned } from './LearningMark'
import { OneMaterial } from './OneMaterial'
import { MATERIALS } from './queries'

export function Component() {
  const { material } = useParams()
  return material === undefined ? <Listed /> : <OneMaterial key={material} id={material} />
}

/** So often the list is read again while something in it is being learned. */
const EVERY_MS = 5000

function Listed() {
  const { t } = useTranslation('materials')
  const owner = useOwner()
  const [watching, setWatching] = useState(false)
  const files = usePages(
    MATERIALS,
    { owner: owner.id, after: null },
    (data) => data.materials,
    watching ? { everyMs: EVERY_MS } : {},
  )
  const going = files.rows?.some((one) => !learned(one)) ?? watching
  if (going !== watching) setWatching(going)
  // The table above pushes nothing down when it comes.
  const come = useOnce(files.rows !== undefined || files.fault !== undefined)
  return (
    <Stack>
      <Group justify="space-between">
        <Title order={2} size="h4">
          {t('title')}
        </Title>
        {mayCurate(owner) && <LearnMaterial onKept={files.reload} />}
      </Group>
      <section aria-label={t('files')}>
        <Title order={3} size="h5" mb="xs">
          {t('files')}
        </Title>
        <FileTable files={files} />
      </section>
      {come && (
        <section aria-label={t('connected')}>
          <Title order={3} size="h5" mb="xs">
            {t('connected')}
          </Title>
          <ConnectorTable />
        </section>
      )}
    </Stack>
  )
}
