import { expect, test } from 'vitest'

import { partsOf, placeOf } from './outline'

test('takes the front matter from the text', () => {
  expect(partsOf('---\ntypes: [vendor]\n---\n\n# Guide')).toEqual({
    front: 'types: [vendor]',
    body: '# Guide',
  })
  expect(partsOf('# Guide')).toEqual({ front: '', body: '# Guide' })
  expect(partsOf('---\n---\nText')).toEqual({ front: '', body: 'Text' })
})

test('finds the line that is wrong', () => {
  const text = '---\ntypes: 3\n---'
  const { start, end } = placeOf(text, 2)
  expect(text.slice(start, end)).toBe('types: 3')
  expect(placeOf(text, 9)).toEqual(placeOf(text, 3))
})
