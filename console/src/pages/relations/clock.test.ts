import { expect, it } from 'vitest'

import { asOf, believedRange, trueRange } from './clock'
import type { Neighborhood } from './queries'

const NOW = Date.parse('2026-06-01T00:00:00Z')

const found = {
  truncated: false,
  neighbours: [
    { depth: 0, entry: { id: 'e', name: 'E', type: 'person', createdAt: '2026-01-01T00:00:00Z' } },
  ],
  relations: [
    { validFrom: '2019-01-01T00:00:00Z', validTo: null },
    { validFrom: null, validTo: '2027-01-01T00:00:00Z' },
  ],
} as unknown as Neighborhood

it('lets one go back to when the first entry was made', () => {
  expect(believedRange(found, NOW)).toEqual({ from: Date.parse('2026-01-01T00:00:00Z'), to: NOW })
})

it('spans all that begins or ends, also in the future', () => {
  expect(trueRange(found, NOW)).toEqual({
    from: Date.parse('2019-01-01T00:00:00Z'),
    to: Date.parse('2027-01-01T00:00:00Z'),
  })
})

it('has a day to move in where nothing is dated', () => {
  const range = trueRange({ ...found, relations: [] }, NOW)
  expect(range.to - range.from).toBe(86_400_000)
})

it('asks for a moment only on the clock that was moved', () => {
  expect(asOf('', '')).toBeNull()
  expect(asOf('2026-01-01T00:00:00Z', '')).toEqual({ recorded: '2026-01-01T00:00:00Z' })
})
