/** How far the learning of a material is, in a word with a sign (CO-9, CO-38). */
import { Code, Group } from '@mantine/core'
import { useTranslation } from 'react-i18next'

import { Mark } from '../../ui/Mark'
import type { Material } from './queries'

const SIGNS: Record<Material['state'], string> = { QUEUED: '…', RUNNING: '▶', SUCCEEDED: '✓', FAILED: '✕' }

export function LearningMark({ of }: { of: Pick<Material, 'state' | 'code'> }) {
  const { t } = useTranslation('materials')
  return (
    <Group gap={6}>
      <Mark sign={SIGNS[of.state]}>{t(`states.${of.state}`)}</Mark>
      {of.code !== null && <Code>{of.code}</Code>}
    </Group>
  )
}

/** Whether nothing more comes by itself. */
export const learned = (of: Pick<Material, 'state'>): boolean =>
  of.state === 'SUCCEEDED' || of.state === 'FAILED'
