import { expect, it } from 'vitest'

import { fits, isNear, left } from './limit'

it('counts characters as the server does, whatever they take in memory', () => {
  expect('😀'.length).toBe(2)
  expect(left('😀'.repeat(200), 'name')).toBe(0)
  expect(fits('😀'.repeat(201), 'name')).toBe(false)
  expect(left('e\u0301'.repeat(3), 'name')).toBe(197)
})

it('leaves out blanks around a text', () => {
  expect(fits(`  ${'a'.repeat(200)}\n`, 'name')).toBe(true)
})

it('tells of the last tenth', () => {
  expect(isNear('a'.repeat(179), 'name')).toBe(false)
  expect(isNear('a'.repeat(180), 'name')).toBe(true)
})
