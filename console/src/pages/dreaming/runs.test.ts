import { expect, it } from 'vitest'

import type { Run } from './queries'
import { active, ended, foundNothing, perCent } from './runs'

const run = (change: Partial<Run> = {}): Run => ({
  id: 'r',
  stage: 'B',
  trigger: 'MANUAL',
  state: 'SUCCEEDED',
  startedAt: '2025-05-10T09:00:00Z',
  endedAt: null,
  materialsProcessed: 0,
  operations: 0,
  skillUpdates: 0,
  rejected: 0,
  error: null,
  advice: null,
  ...change,
})

it('waits for curation alone, never for a channel', () => {
  expect(active(run({ state: 'QUEUED' }))).toBe(true)
  expect(active(run({ state: 'RUNNING', stage: 'A' }))).toBe(false)
  expect(active(run())).toBe(false)
  expect(ended(run({ state: 'FAILED' }))).toBe(true)
})

it('finds nothing only if it succeeded without any work', () => {
  expect(foundNothing(run())).toBe(true)
  expect(foundNothing(run({ rejected: 1 }))).toBe(false)
  expect(foundNothing(run({ state: 'FAILED' }))).toBe(false)
})

it('tells a rate in per cent with one decimal', () => {
  expect(perCent(7 / 8, 'en')).toBe('87.5%')
  expect(perCent(1, 'en')).toBe('100.0%')
})
