import { expect, it } from 'vitest'

import { newest } from './useSelection'

it('takes the newest of more than one restore takes', () => {
  const chosen = new Map([
    ['old', '2026-01-01T00:00:00.000Z'],
    ['new', '2026-01-03T00:00:00.000Z'],
    ['middle', '2026-01-02T00:00:00.000Z'],
  ])
  expect(newest(chosen, 2)).toEqual(['new', 'middle'])
})
