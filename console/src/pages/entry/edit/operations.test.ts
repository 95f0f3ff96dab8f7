import { expect, test } from 'vitest'

import {
  addRelation,
  changesOf,
  editBlock,
  editMetadata,
  EMPTY_BLOCK,
  type MetadataDraft,
  removeRelation,
  valueOf,
} from './operations'

const QUOTE = { source: 's1', title: 'Lin', quote: 'I went vegetarian', role: 'SUPPORTS' as const }
const DATA: MetadataDraft = { name: 'Lin', type: 'person', aliases: ['L.'], summary: '', attributes: [] }

test('a correction without a source rests on what the person typed', () => {
  const made = editBlock(
    'b',
    3,
    { standing: 'SETTLED', citations: [QUOTE] },
    { ...EMPTY_BLOCK, text: ' Lin ', change: 'correction' },
  )
  expect(made).toMatchObject({
    expectedVersion: 3,
    text: 'Lin',
    basis: 'authored',
    standing: 'corrected',
    citations: [],
  })
})

test('what changed in the world keeps the old evidence beside the new', () => {
  const fresh = { ...QUOTE, source: 's2' }
  const made = editBlock(
    'b',
    1,
    { standing: 'SETTLED', citations: [QUOTE] },
    { ...EMPTY_BLOCK, text: 'x', change: 'evolution', from: '2025-04', citations: [fresh] },
  )
  expect(made).toMatchObject({ standing: 'settled', basis: 'stated', validFrom: '2025-04' })
  expect(made.citations).toHaveLength(2)
})

test('other words keep the standing, and an inference is never only reworded', () => {
  const draft = { ...EMPTY_BLOCK, text: 'x', change: 'compression' as const }
  expect(editBlock('b', 1, { standing: 'DISPUTED', citations: [] }, draft)).toMatchObject({
    standing: 'disputed',
  })
  expect(changesOf('INFERRED')).not.toContain('compression')
})

test('each changed part of the metadata is one operation on the version that the one before made', () => {
  const made = editMetadata('e', 4, DATA, { ...DATA, name: 'Lin Chen', type: 'other', aliases: [] })
  expect(made.map((one) => [one.op, one.expectedVersion])).toEqual([
    ['setType', 4],
    ['setAliases', 5],
    ['renameEntry', 6],
  ])
  expect(editMetadata('e', 4, DATA, DATA)).toEqual([])
})

test('sets and unsets attributes', () => {
  const before = {
    ...DATA,
    attributes: [
      { key: 'team', value: 'ops' },
      { key: 'floor', value: '3' },
    ],
  }
  const after = { ...DATA, attributes: [{ key: 'floor', value: '4' }] }
  expect(editMetadata('e', 1, before, after)).toMatchObject([
    { op: 'setAttributes', set: [{ key: 'floor', value: 4 }], unset: ['team'] },
  ])
  expect(valueOf('{"a": 1}')).toBe('{"a": 1}')
})

test('a relation rests on a quote or on what the user says', () => {
  const draft = { type: 'member_of', object: 'o', evidence: null, note: 'Ana told me', from: '', to: '' }
  expect(addRelation('e', draft)).not.toHaveProperty('source')
  expect(addRelation('e', { ...draft, evidence: QUOTE })).toMatchObject({ source: 's1', quote: QUOTE.quote })
  expect(removeRelation('r', 2, 'retracted', '2025')).not.toHaveProperty('validTo')
})
