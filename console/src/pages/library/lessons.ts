/** The operations that change a lesson, at the version that was looked at (SK-18). Pure. */
import type { Operation } from '../../ui/apply'

export type LessonAt = { skill: string; lesson: string; version: number }

export const replaceLesson = ({ skill, lesson, version }: LessonAt, text: string): Operation => ({
  op: 'updateSkillOverlay',
  skill,
  action: 'replace',
  lesson,
  expectedVersion: version,
  text: text.trim(),
})

export const removeLesson = ({ skill, lesson, version }: LessonAt): Operation => ({
  op: 'updateSkillOverlay',
  skill,
  action: 'remove',
  lesson,
  expectedVersion: version,
})
