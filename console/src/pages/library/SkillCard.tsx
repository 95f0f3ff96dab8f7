/** One Skill: its base text, which nobody edits here, whether the Agent uses it, and its lessons (CO-84). */
import { Accordion, Alert, Button, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { useTranslation } from 'react-i18next'

import { useWrite } from '../../api/useWrite'
import { mayAdminister, useOwner } from '../../app/owner'
import { FaultNotice } from '../../ui/FaultNotice'
import { named } from '../../ui/invisible'
import { Mark } from '../../ui/Mark'
import { Markdown } from '../../ui/Markdown'
import { Told } from '../../ui/Told'
import type { Overlay } from '../skills/queries'
import { Tokens } from '../skills/Tokens'
import { LessonCard } from './LessonCard'
import { SET_ENABLED, type Skill } from './queries'

type Parts = { skill: Skill; overlay: Overlay | undefined; reload: () => void }

export function SkillCard({ skill, overlay, reload }: Parts) {
  const { t } = useTranslation('library')
  const { t: skills } = useTranslation('skills')
  const enabled = overlay?.enabled ?? false
  return (
    <Paper withBorder p="md" component="section" aria-label={skill.name}>
      <Stack gap="sm">
        <Group justify="space-between">
          <Group gap="xs">
            <Title order={2} size="h4">
              <Told>{skill.name}</Told>
            </Title>
            <Mark sign={enabled ? '●' : '○'}>{skills(enabled ? 'enabled' : 'disabled')}</Mark>
          </Group>
          <Enabling skill={skill} enabled={enabled} onDone={reload} />
        </Group>
        <BaseText of={skill} />
        {overlay && !enabled && <Alert color="yellow">{skills('notLoaded')}</Alert>}
        {overlay && <Tokens used={overlay.tokens} allowed={overlay.tokenBudget} />}
        <Title order={3} size="h5">
          {t('lessons')}
        </Title>
        {overlay === undefined || overlay.lessons.length === 0 ? (
          <Text size="sm" c="dimmed">
            {skills('noLessons')}
          </Text>
        ) : (
          overlay.lessons.map((lesson) => (
            <LessonCard key={lesson.lessonId} skill={skill.slug} lesson={lesson} reload={reload} />
          ))
        )}
      </Stack>
    </Paper>
  )
}

function BaseText({ of }: { of: Skill }) {
  const { t } = useTranslation('library')
  return (
    <Accordion variant="contained" order={3}>
      <Accordion.Item value="base">
        <Accordion.Control>{t('baseText', { version: of.baseVersion })}</Accordion.Control>
        <Accordion.Panel>
          <Markdown>{of.baseText}</Markdown>
        </Accordion.Panel>
      </Accordion.Item>
    </Accordion>
  )
}

/** Only an administrator gives a Skill to an Agent or takes it away. */
function Enabling({ skill, enabled, onDone }: { skill: Skill; enabled: boolean; onDone: () => void }) {
  const { t } = useTranslation('library')
  const owner = useOwner()
  const change = useWrite(SET_ENABLED)
  if (!mayAdminister(owner)) return null
  const flip = async () => {
    if (await change.run({ agent: owner.id, skill: skill.slug, enabled: !enabled })) onDone()
  }
  return (
    <>
      <Button size="xs" variant="default" loading={change.busy} onClick={() => void flip()}>
        {t(enabled ? 'disable' : 'enable', { name: named(skill.name) })}
      </Button>
      {change.fault && <FaultNotice fault={change.fault} />}
    </>
  )
}
