import { expect, test } from 'vitest'

import { begins, shownDate, isWhen } from './validity'

test('is as exact as what is known', () => {
  expect(shownDate('2025-04-01T00:00:00.000Z', 'MONTH')).toBe('2025-04')
  expect(shownDate('2025-04-01T00:00:00.000Z', null)).toBe('2025-04-01')
  expect(shownDate('2025-04-01T09:30:00.000Z', null)).toBe('2025-04-01T09:30:00.000Z')
})

test('says nothing of a beginning that nobody knows', () => {
  expect(begins({ validFrom: null, validTo: null, fromPrecision: null, toPrecision: null })).toBe('')
})

test.each([
  ['', true],
  [' 2025 ', true],
  ['2025-04', true],
  ['2025-04-10', true],
  ['2024-02-29', true],
  ['2025-04-10T08:00:00Z', true],
  ['2025-13', false],
  ['2025-04-31', false],
  ['2025-02-29', false],
  ['25-04', false],
  ['1st April', false],
])('knows whether %s says when', (typed, says) => {
  expect(isWhen(typed)).toBe(says)
})
