import { expect, it } from 'vitest'

import { type Belief, beliefOf, compare, differs, mentions } from './differences'
import type { Told } from './queries'

const JANUARY = Date.parse('2026-01-01T00:00:00Z')

const told = (change: object = {}): Told => ({
  id: 'e',
  name: 'Lin',
  type: 'person',
  summary: '',
  aliases: ['L.'],
  createdAt: '2025-01-01T00:00:00Z',
  deletedAt: null,
  owner: { id: 'a' },
  blocks: [
    { id: 'b1', current: { id: 'v1', text: 'Likes barbecue' } },
    { id: 'b2', current: null },
  ],
  relations: {
    pageInfo: { hasNextPage: false },
    edges: [{ node: { id: 'r', type: 'knows', subject: { name: 'Lin' }, object: { name: 'Ana' } } }],
  },
  ...change,
})

const at = (told_: Told): Belief => beliefOf(told_, JANUARY) as Belief

it('believes nothing of an entry that was not there yet, or no more', () => {
  expect(beliefOf(null, JANUARY)).toBeNull()
  expect(beliefOf(told({ createdAt: '2026-02-01T00:00:00Z' }), JANUARY)).toBeNull()
  expect(beliefOf(told({ deletedAt: '2025-06-01T00:00:00Z' }), JANUARY)).toBeNull()
  expect(beliefOf(told({ deletedAt: '2026-06-01T00:00:00Z' }), JANUARY)?.name).toBe('Lin')
})

it('tells statements that changed, came and went by their block', () => {
  const later = told({
    blocks: [
      { id: 'b1', current: { id: 'v2', text: 'Vegetarian' } },
      { id: 'b3', current: { id: 'v3', text: 'Lives in Oslo' } },
    ],
  })
  const { statements, fields, relations } = compare(at(told()), at(later))
  expect(statements.map(({ id, kind }) => [id, kind])).toEqual([
    ['b1', 'changed'],
    ['b3', 'added'],
  ])
  expect([...fields, ...relations].every(({ kind }) => kind === 'same')).toBe(true)
})

it('finds no difference between equal beliefs, and all of one that is gone', () => {
  expect(differs(compare(at(told()), at(told())))).toBe(false)
  const gone = compare(at(told()), null)
  expect(
    [...gone.fields, ...gone.statements, ...gone.relations].every(({ kind }) => kind === 'removed'),
  ).toBe(true)
})

it('finds words anywhere in what was believed', () => {
  expect(mentions(at(told()), 'lin BARBECUE')).toBe(true)
  expect(mentions(at(told()), 'lin vegetarian')).toBe(false)
  expect(mentions(null, '')).toBe(false)
})
