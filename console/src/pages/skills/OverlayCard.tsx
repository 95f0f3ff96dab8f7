/** What was learned about one Skill, only to be read; it is changed in the Agent Library (CO-42 to CO-44). */
import { Alert, Anchor, Group, List, Paper, Stack, Text, Title } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router'

import { useOwner } from '../../app/owner'
import { libraryPath } from '../../app/paths'
import { Mark } from '../../ui/Mark'
import { Told } from '../../ui/Told'
import { TraceLink } from '../../ui/TraceLink'
import { LessonFacts } from './LessonFacts'
import type { Overlay } from './queries'
import { Tokens } from './Tokens'

export function OverlayCard({ of }: { of: Overlay }) {
  const { t } = useTranslation('skills')
  const owner = useOwner()
  const name = of.skill?.name ?? of.slug
  return (
    <Paper withBorder p="md" component="article" aria-label={name}>
      <Stack gap="sm">
        <Group justify="space-between">
          <Group gap="xs">
            <Title order={3} size="h5">
              <Told>{name}</Told>
            </Title>
            <Mark sign={of.enabled ? '●' : '○'}>{t(of.enabled ? 'enabled' : 'disabled')}</Mark>
          </Group>
          <Anchor
            component={Link}
            to={`${libraryPath(owner.id)}?skill=${encodeURIComponent(of.slug)}`}
            size="sm"
            aria-label={t('editOf', { name })}
          >
            {t('edit')}
          </Anchor>
        </Group>
        {!of.enabled && <Alert color="yellow">{t('notLoaded')}</Alert>}
        <Tokens used={of.tokens} allowed={of.tokenBudget} />
        {of.lessons.length === 0 ? (
          <Text size="sm" c="dimmed">
            {t('noLessons')}
          </Text>
        ) : (
          <List spacing="sm" aria-label={t('lessonsOf', { name })}>
            {of.lessons.map((lesson) => (
              <List.Item key={lesson.id}>
                <Told>{lesson.text}</Told> <TraceLink node={lesson.id} what={lesson.text.slice(0, 60)} />
                <LessonFacts of={lesson} />
              </List.Item>
            ))}
          </List>
        )}
      </Stack>
    </Paper>
  )
}
