import { expect, it } from 'vitest'

import type { Block } from '../entry'
import { moveBlock } from './moving'

const block = (id: string, basis = 'STATED'): Block => ({
  id,
  current: { version: 1, text: id, basis, standing: 'SETTLED' } as Block['current'],
})
const ALL = [block('a'), block('b'), block('c')]

it('puts the upper of two neighbours behind the lower one', () => {
  expect(moveBlock(ALL, 0, 1)).toMatchObject({ block: 'a', after: 'b', text: 'a', citations: [] })
  expect(moveBlock(ALL, 1, -1)).toMatchObject({ block: 'a', after: 'b' })
})

it('offers nothing at the ends', () => {
  expect(moveBlock(ALL, 0, -1)).toBeNull()
  expect(moveBlock(ALL, 2, 1)).toBeNull()
})

it('leaves a deduction where it is and moves the other one', () => {
  const mixed = [block('a'), block('d', 'DEDUCED'), block('c')]
  expect(moveBlock(mixed, 1, 1)).toMatchObject({ block: 'c', after: 'a' })
  expect(moveBlock(mixed.slice(1), 0, 1)).toBeNull()
})
