import { expect, test } from 'vitest'

import { type EntryFilterName, filterOf, startOf } from './filter'

const given = (values: Partial<Record<EntryFilterName, string[]>>) => ({
  get: (name: EntryFilterName) => values[name]?.[0] ?? '',
  all: (name: EntryFilterName) => values[name] ?? [],
})

test('without anything set there is no filter', () => {
  expect(filterOf(given({ q: ['  '] }))).toBeNull()
})

test('takes several types and authors, and one text', () => {
  expect(filterOf(given({ q: ['hlo'], type: ['person', 'place'], author: ['a'] }))).toEqual({
    text: 'hlo',
    types: ['person', 'place'],
    authorIds: ['a'],
  })
})

test('a last day is whole: the filter ends where the next begins', () => {
  expect(startOf('2025-05-10', 1)).toBe(startOf('2025-05-11', 0))
  expect(startOf('10 May', 0)).toBe('')
})
