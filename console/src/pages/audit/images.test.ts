import { expect, it } from 'vitest'

import { changes, omitted } from './images'

it('tells the fields that differ, the text before its validity', () => {
  const before = { validTo: null, text: 'Port 5432', basis: 'stated' }
  const after = { validTo: '2026-01-01', text: 'Port 5433', basis: 'stated' }
  expect(changes(before, after)).toEqual([
    { field: 'text', before: 'Port 5432', after: 'Port 5433' },
    { field: 'validTo', before: '', after: '2026-01-01' },
  ])
})

it('tells all of what came or went, without places and ids', () => {
  expect(changes(null, { text: 'A', entryId: 'e', validFrom: null })).toEqual([
    { field: 'text', before: '', after: 'A' },
  ])
})

it('tells the body of a whole entry by its texts', () => {
  const whole = {
    name: 'Helio',
    blocks: { b1: { text: 'Two', position: 2 }, b2: { text: 'One', position: 1 } },
    relations: {},
  }
  expect(changes(whole, null)).toEqual([
    { field: 'name', before: 'Helio', after: '' },
    { field: 'blocks', before: 'One\n\nTwo', after: '' },
  ])
})

it('names a relation that cannot return by its type and its other end', () => {
  const relations = { r1: { subjectId: 'me', type: 'part_of', objectId: 'gone' } }
  expect(omitted({ before: { relations }, targetId: 'me' }, ['r1'])).toEqual([
    { id: 'r1', type: 'part_of', other: 'gone' },
  ])
})

it('tells quotes without the ids of their sources, and a role where it is not plain', () => {
  const quote = { sourceId: 's', quote: 'It is 5433', role: 'supports', start: 0, end: 10 }
  const after = { citations: [quote, { ...quote, role: 'corrects' }] }
  expect(changes(null, after)).toEqual([
    { field: 'citations', before: '', after: '“It is 5433”\n“It is 5433” (corrects)' },
  ])
})

it('tells the lines of a memo with what they rest on', () => {
  const line = {
    text: 'Answer shortly',
    citations: [{ quote: 'be short', role: 'supports' }],
    derivedFrom: [],
  }
  expect(changes(null, { lines: [line] })).toEqual([
    { field: 'lines', before: '', after: 'Answer shortly\n  “be short”' },
  ])
})

it('says words of the API in those of the reader', () => {
  const word = (field: string, value: string) => (field === 'standing' ? `<${value}>` : undefined)
  const before = { standing: 'settled', text: 'settled' }
  expect(changes(before, { standing: 'disputed', text: 'disputed' }, word)).toEqual([
    { field: 'text', before: 'settled', after: 'disputed' },
    { field: 'standing', before: '<settled>', after: '<disputed>' },
  ])
})
