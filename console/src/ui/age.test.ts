import { expect, it } from 'vitest'

import { ageOf } from './age'

const NOW = Date.parse('2025-05-10T09:00:00Z')

it.each([
  ['2025-05-10T09:00:00Z', '0 seconds ago'],
  ['2025-05-10T08:59:01Z', '59 seconds ago'],
  ['2025-05-10T08:29:00Z', '31 minutes ago'],
  ['2025-05-10T07:00:01Z', '1 hour ago'],
  ['2025-05-07T09:00:00Z', '3 days ago'],
  ['2025-05-10T09:30:00Z', '0 seconds ago'],
])('says how long ago %s was', (at, said) => {
  expect(ageOf(at, NOW, 'en')).toBe(said)
})

it('says it in the language of the reader', () => {
  expect(ageOf('2025-05-10T08:29:00Z', NOW, 'zh')).toBe('31分钟前')
})
