import { expect, it } from 'vitest'

import { removeLesson, replaceLesson } from './lessons'

const at = { skill: 'deploy', lesson: 'l', version: 3 }

it('names the version that was looked at, and gives a text only to what stays', () => {
  expect(replaceLesson(at, ' Migrate first. ')).toMatchObject({
    action: 'replace',
    expectedVersion: 3,
    text: 'Migrate first.',
  })
  expect(removeLesson(at)).toMatchObject({ action: 'remove', expectedVersion: 3 })
  expect(removeLesson(at)).not.toHaveProperty('text')
})
