import { expect, test } from 'vitest'

import { momentIn } from './moment'

test('a moment stays as it is', () => {
  expect(momentIn('2026-02-02T08:00:00.000Z')).toBe('2026-02-02T08:00:00.000Z')
})

test.each(['', 'zzz', '2026', '2026-13-45T99:00Z', '+275760-09-13T00:00:00.000Z', '1e99', 'Infinity'])(
  '%s is none',
  (text) => {
    expect(momentIn(text)).toBe('')
  },
)
