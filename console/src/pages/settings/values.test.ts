import { expect, it } from 'vitest'

import { groups, parsed, type Setting, typed } from './values'

const setting = (name: string, more: Partial<Setting> = {}): Setting => ({
  name,
  value: 1,
  default: 1,
  takes: 'INTEGER',
  nullable: false,
  low: null,
  high: null,
  above: false,
  unit: '',
  perAgent: false,
  origin: 'default',
  version: 0,
  ...more,
})

it('reads numbers, and nothing else as a number', () => {
  expect(parsed({ takes: 'INTEGER', nullable: false }, ' 40 ')).toBe(40)
  expect(parsed({ takes: 'INTEGER', nullable: false }, '4.5')).toBeUndefined()
  expect(parsed({ takes: 'NUMBER', nullable: false }, '-0.25')).toBe(-0.25)
  expect(parsed({ takes: 'NUMBER', nullable: false }, '')).toBeUndefined()
})

it('reads an empty field as no value where there may be none', () => {
  expect(parsed({ takes: 'TEXT', nullable: true }, ' ')).toBeNull()
  expect(parsed({ takes: 'TEXT', nullable: false }, ' ')).toBeUndefined()
})

it('keeps the blanks of a pattern, and drops empty lines of a list', () => {
  expect(parsed({ takes: 'TEXTS', nullable: false }, '^ at\n\nmy')).toEqual(['^ at', 'my'])
})

it('types what it reads', () => {
  const texts = { takes: 'TEXTS', nullable: false } as const
  expect(parsed(texts, typed(['a', 'b']))).toEqual(['a', 'b'])
  expect(parsed({ takes: 'BOOLEAN', nullable: false }, typed(true))).toBe(true)
  expect(typed(null)).toBe('')
})

it('groups by what stands before the dot, and leaves out what was not searched for', () => {
  const all = [setting('dream.enabled'), setting('dream.max'), setting('lint.similarity')]
  expect(groups(all, '').map(({ name }) => name)).toEqual(['dream', 'lint'])
  expect(groups(all, 'ENABLED').flatMap(({ settings }) => settings.map(({ name }) => name))).toEqual([
    'dream.enabled',
  ])
})
