import { expect, test } from 'vitest'

import { named, pieces } from './invisible'

const marked = (text: string) => pieces(text).filter((piece) => piece.mark).length

test.each([
  ['a bidi override', '\u202e'],
  ['an isolate', '\u2066'],
  ['a zero-width space', '\u200b'],
  ['a combining joiner', '\u034f'],
  ['a Hangul filler', '\u3164'],
  ['a half-width Hangul filler', '\uffa0'],
  ['a vowel of no shape', '\u17b4'],
  ['a Mongolian selector', '\u180b'],
  ['a variation selector', '\ufe00'],
  ['a supplementary variation selector', '\u{e0101}'],
  ['a tag', '\u{e0041}'],
  ['an annotation', '\ufff9'],
  ['a musical control', '\u{1d173}'],
  ['a line separator', '\u2028'],
  ['a control', '\u0007'],
  ['a later control', '\u0085'],
])('%s is marked', (_name, char) => {
  expect(pieces(`a${char}b`)).toEqual([
    { text: 'a', mark: false },
    { text: char, mark: true },
    { text: 'b', mark: false },
  ])
})

test('white space, letters of all scripts and signs that one sees are text', () => {
  expect(marked('a\tb\r\nc 青鹭 नमस्ते مرحبا é e\u0301 \u0601')).toBe(0)
})

test('one selector after a sign presents it; more of them hide something', () => {
  expect(marked('❤\ufe0f 1\ufe0f')).toBe(0)
  expect(marked('a\ufe0f')).toBe(1)
  expect(marked('❤\ufe0f\ufe0f\ufe0e')).toBe(2)
})

test('where only text fits, a mark is a name in brackets', () => {
  expect(named('pay\u202eldrow')).toBe('pay⟨U+202E⟩ldrow')
  expect(named('two\nlines')).toBe('two\nlines')
})
