import { expect, test } from 'vitest'

import { begins, shownDate } from './validity'

test('is as exact as what is known', () => {
  expect(shownDate('2025-04-01T00:00:00.000Z', 'MONTH')).toBe('2025-04')
  expect(shownDate('2025-04-01T00:00:00.000Z', null)).toBe('2025-04-01')
  expect(shownDate('2025-04-01T09:30:00.000Z', null)).toBe('2025-04-01T09:30:00.000Z')
})

test('says nothing of a beginning that nobody knows', () => {
  expect(begins({ validFrom: null, validTo: null, fromPrecision: null, toPrecision: null })).toBe('')
})
