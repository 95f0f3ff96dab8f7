/** What is told of a lesson beside its words: origin, author, time, scope, and whether it needs a look (CO-44). */
import { Group, Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'

import { useBaseName } from '../../ui/baseName'
import { Mark } from '../../ui/Mark'
import { Told } from '../../ui/Told'
import { When } from '../../ui/When'
import type { Lesson } from './queries'

export function LessonFacts({ of }: { of: Lesson }) {
  const { t } = useTranslation('skills')
  const { t: ui } = useTranslation('ui')
  const baseName = useBaseName()
  return (
    <Group gap={6}>
      <Mark>{t(`origins.${of.origin}`)}</Mark>
      {of.knowledgeBase && <Mark sign="◎">{baseName(of.knowledgeBase)}</Mark>}
      {of.stale && <Mark sign="⌛">{ui('stale')}</Mark>}
      <Text size="xs" c="dimmed" component="span">
        {ui(`actor.${of.modifierKind}`)} <Told>{of.modifier.displayName}</Told> · <When at={of.recordedAt} />
      </Text>
    </Group>
  )
}
