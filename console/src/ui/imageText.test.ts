import { expect, test } from 'vitest'

import { imageText } from './imageText'

test('says each value that is set on a line of its own, without ids', () => {
  const image = {
    text: 'Vegetarian',
    validTo: null,
    citations: [{ source: 'src_1', quote: 'I went vegetarian', start: 0, role: 'supports' }],
    aliases: ['Lin', 'L.'],
  }
  expect(imageText(image)).toBe(
    'text: Vegetarian\ncitations 1 quote: I went vegetarian\ncitations 1 role: supports\naliases: Lin, L.',
  )
})

test('says nothing of what was not there', () => {
  expect(imageText(null)).toBe('')
})
