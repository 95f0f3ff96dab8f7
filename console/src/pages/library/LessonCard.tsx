/** One lesson where it is changed: edit, delete, versions, audit; who may not write is not offered the first two. */
import { Button, Group, Paper, Stack } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'

import { Citations } from '../../ui/Citations'
import { ReasonModal } from '../../ui/ReasonModal'
import { Told } from '../../ui/Told'
import { TraceLink } from '../../ui/TraceLink'
import { useApply } from '../../ui/apply'
import { LessonFacts } from '../skills/LessonFacts'
import type { Lesson } from '../skills/queries'
import { LessonForm } from './LessonForm'
import { LessonHistory } from './LessonHistory'
import { removeLesson } from './lessons'

type Parts = { skill: string; lesson: Lesson; reload: () => void }

export function LessonCard({ skill, lesson, reload }: Parts) {
  const { t } = useTranslation('library')
  const [doing, setDoing] = useState<'edit' | 'delete' | 'history'>()
  const done = () => setDoing(undefined)
  const start = lesson.text.slice(0, 60)
  return (
    <Paper withBorder p="sm" component="article" aria-label={t('lesson', { start })}>
      <Stack gap={6}>
        {doing === 'edit' ? (
          <LessonForm skill={skill} lesson={lesson} onDone={done} reload={reload} />
        ) : (
          <>
            <div>
              <Told>{lesson.text}</Told>
            </div>
            <LessonFacts of={lesson} />
            {lesson.citations.length > 0 && <Citations of={lesson.citations} />}
            <Group gap="md">
              <TraceLink node={lesson.id} what={start} />
              <Button variant="subtle" size="compact-sm" onClick={() => setDoing('history')}>
                {t('history')}
              </Button>
              {lesson.knowledgeBase?.writable && (
                <>
                  <Button variant="subtle" size="compact-sm" onClick={() => setDoing('edit')}>
                    {t('edit')}
                  </Button>
                  <Button variant="subtle" size="compact-sm" onClick={() => setDoing('delete')}>
                    {t('delete')}
                  </Button>
                </>
              )}
            </Group>
          </>
        )}
      </Stack>
      {doing === 'history' && <LessonHistory lesson={lesson} onClose={done} />}
      {doing === 'delete' && <DeleteLesson skill={skill} lesson={lesson} onClose={done} reload={reload} />}
    </Paper>
  )
}

function DeleteLesson({ skill, lesson, onClose, reload }: Parts & { onClose: () => void }) {
  const { t } = useTranslation('library')
  const apply = useApply()
  const confirm = async (reason: string) => {
    const operations = [removeLesson({ skill, lesson: lesson.lessonId, version: lesson.version })]
    if (await apply.run({ kb: lesson.knowledgeBase?.id ?? '', operations, reason })) onClose()
    // Of a refusal too: who tries again takes away what he then sees.
    reload()
  }
  return (
    <ReasonModal
      title={t('deleteTitle')}
      action={t('delete')}
      write={apply}
      onClose={onClose}
      onConfirm={(reason) => void confirm(reason)}
    >
      <Told>{lesson.text}</Told>
    </ReasonModal>
  )
}
