/** Every version that a lesson had, and what the audit says of it (CO-84). */
import { Anchor, List, Modal, Stack, Text, Title } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router'

import { usePages } from '../../api/usePages'
import { useRead } from '../../api/useRead'
import { useOwner } from '../../app/owner'
import { auditRecordPath } from '../../app/paths'
import { Remote } from '../../ui/Remote'
import { Rows } from '../../ui/Rows'
import { Told } from '../../ui/Told'
import { When } from '../../ui/When'
import { WordDiff } from '../../ui/WordDiff'
import { useFocusBack } from '../../ui/useFocusBack'
import { OperationName } from '../audit/OperationName'
import { LessonFacts } from '../skills/LessonFacts'
import type { Lesson } from '../skills/queries'
import { LESSON_AUDIT, LESSON_VERSIONS } from './queries'

export function LessonHistory({ lesson, onClose }: { lesson: Lesson; onClose: () => void }) {
  useFocusBack()
  const { t } = useTranslation('library')
  const { t: ui } = useTranslation('ui')
  const read = useRead(LESSON_VERSIONS, { id: lesson.id })
  return (
    <Modal
      opened
      onClose={onClose}
      title={t('history')}
      size="lg"
      closeButtonProps={{ 'aria-label': ui('close') }}
    >
      <Stack>
        <Title order={3} size="h5">
          {t('versions')}
        </Title>
        <Remote read={read} pick={({ node }) => (node?.__typename === 'Lesson' ? node.versions : null)}>
          {(versions) => <Versions of={versions} />}
        </Remote>
        <Title order={3} size="h5">
          {t('audit')}
        </Title>
        <Audit lesson={lesson.lessonId} />
      </Stack>
    </Modal>
  )
}

function Versions({ of }: { of: readonly Lesson[] }) {
  const { t } = useTranslation('library')
  const { t: ui } = useTranslation('ui')
  return (
    <List listStyleType="none" spacing="sm" aria-label={t('versions')}>
      {of.map((one, place) => {
        const before = of[place + 1]
        return (
          <List.Item key={one.id}>
            <Text fw={600} size="sm">
              {t('version', { version: one.version })}
            </Text>
            {before ? <WordDiff before={before.text} after={one.text} /> : <Told>{one.text}</Told>}
            <LessonFacts of={one} />
            {one.reason !== null && one.reason !== '' && (
              <Text size="xs" c="dimmed" component="div">
                {ui('reason')}: <Told>{one.reason}</Told>
              </Text>
            )}
          </List.Item>
        )
      })}
    </List>
  )
}

function Audit({ lesson }: { lesson: string }) {
  const { t } = useTranslation('library')
  const { t: ui } = useTranslation('ui')
  const owner = useOwner()
  const pages = usePages(LESSON_AUDIT, { owner: owner.id, lesson, after: null }, (data) => data.auditLog)
  return (
    <div>
      <Rows pages={pages}>
        {(rows) => (
          <List listStyleType="none" spacing="xs" aria-label={t('audit')}>
            {rows.map((one) => (
              <List.Item key={one.id}>
                <Anchor component={Link} to={auditRecordPath(owner.id, one.id)} size="sm">
                  #{one.seq} <OperationName of={one.operation} />
                </Anchor>{' '}
                <Text size="xs" c="dimmed" component="span">
                  {ui(`actor.${one.actorKind}`)} <Told>{one.actor.displayName}</Told> ·{' '}
                  <When at={one.recordedAt} />
                </Text>
                {one.reason !== null && one.reason !== '' && (
                  <Text size="xs" component="div">
                    <Told>{one.reason}</Told>
                  </Text>
                )}
              </List.Item>
            ))}
          </List>
        )}
      </Rows>
    </div>
  )
}
