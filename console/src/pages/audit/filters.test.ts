import { expect, it } from 'vitest'

import { auditFilter, dayBefore, dayStart, type FilterName } from './filters'

const given = (values: Partial<Record<FilterName, string[]>>) => ({
  all: (name: FilterName) => values[name] ?? [],
  get: (name: FilterName) => values[name]?.[0] ?? '',
})

it('asks for all of an agent while nothing is chosen', () => {
  const asked = auditFilter('agent', given({}))
  expect(Object.entries(asked).filter(([, value]) => value !== null)).toEqual([['ownerId', 'agent']])
})

it('asks for what is chosen, and leaves out kinds of actors that there are not', () => {
  const asked = auditFilter('agent', given({ kb: ['k1', 'k2'], kind: ['DREAMING', 'ALIEN'], run: ['r'] }))
  expect(asked).toMatchObject({ kbIds: ['k1', 'k2'], actorKinds: ['DREAMING'], dreamRunId: 'r' })
})

it('takes in the last day whole, by the reader’s own calendar', () => {
  const asked = auditFilter('agent', given({ from: ['2026-02-28'], to: ['2026-02-28'] }))
  expect(asked.from).toBe(new Date(2026, 1, 28).toISOString())
  expect(asked.to).toBe(new Date(2026, 2, 1).toISOString())
})

it('asks for no day that is none', () => {
  expect(dayStart('tomorrow')).toBeNull()
  expect(dayStart('')).toBeNull()
})

it('counts days back over the end of a month', () => {
  expect(dayBefore(new Date(2026, 2, 3), 7)).toBe('2026-02-24')
})
