import { expect, it } from 'vitest'

import { EMPTY, isReady } from './typed'

it('looks only at the kind that is chosen', () => {
  const file = new File(['kiln'], 'kiln.txt')
  expect(isReady(EMPTY)).toBe(false)
  expect(isReady({ ...EMPTY, file })).toBe(true)
  expect(isReady({ ...EMPTY, kind: 'text', file })).toBe(false)
  expect(isReady({ ...EMPTY, kind: 'text', text: ' \n' })).toBe(false)
  expect(isReady({ ...EMPTY, kind: 'url', url: 'https://example.org/' })).toBe(true)
})
