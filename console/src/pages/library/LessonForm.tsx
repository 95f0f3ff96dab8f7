/** Writes a lesson anew, with a reason; what somebody else wrote meanwhile is never overwritten unseen (CO-18, SK-18). */
import { Stack } from '@mantine/core'
import { type SyntheticEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'

import { currentOf, useApply } from '../../ui/apply'
import { Conflict } from '../../ui/Conflict'
import { fits } from '../../ui/limit'
import { LimitedArea } from '../../ui/LimitedText'
import { SaveBar } from '../../ui/SaveBar'
import { useDraftCheck } from '../../ui/useDraftCheck'
import type { Lesson } from '../skills/queries'
import { replaceLesson } from './lessons'

export function LessonForm({
  skill,
  lesson,
  onDone,
  reload,
}: {
  skill: string
  lesson: Lesson
  onDone: () => void
  reload: () => void
}) {
  const { t } = useTranslation('library')
  const [text, setText] = useState(lesson.text)
  // The version that was there when the form was opened, whatever is read again beneath it.
  const [version, setVersion] = useState(lesson.version)
  const [reason, setReason] = useState('')
  const check = useDraftCheck()
  const apply = useApply()
  const current = currentOf(apply.fault)
  const save = async (event: SyntheticEvent) => {
    event.preventDefault()
    if (!(await check.allows({ text }))) return
    const operations = [replaceLesson({ skill, lesson: lesson.lessonId, version }, text)]
    const done = await apply.run({ kb: lesson.knowledgeBase?.id ?? '', operations, reason: reason.trim() })
    if (done === null) return
    onDone()
    reload()
  }
  const seen = (shown: string) => {
    if (current === null) return
    setText(shown)
    setVersion(current.version)
    apply.forget()
  }
  return (
    <form onSubmit={(event) => void save(event)} aria-label={t('editTitle')}>
      <Stack gap="sm">
        <LimitedArea
          of="lesson"
          label={t('text')}
          required
          autosize
          minRows={2}
          value={text}
          onChange={setText}
        />
        {current && (
          <Conflict
            mine={text}
            theirs={current.text}
            version={current.version}
            onTakeTheirs={() => seen(current.text)}
            onKeepMine={() => seen(text)}
          />
        )}
        <SaveBar
          reason={reason}
          onReason={setReason}
          warnings={check.warnings}
          fault={current ? undefined : apply.fault}
          busy={apply.busy}
          ready={text.trim() !== '' && fits(text, 'lesson') && current === null}
          onCancel={onDone}
        />
      </Stack>
    </form>
  )
}
