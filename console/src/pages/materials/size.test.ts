import { expect, it } from 'vitest'

import { shownSize } from './size'

it('tells bytes in the largest unit that fits', () => {
  expect(shownSize(0, 'en')).toBe('0 B')
  expect(shownSize(1023, 'en')).toBe('1,023 B')
  expect(shownSize(1536, 'en')).toBe('1.5 KiB')
  expect(shownSize(52_428_800, 'en')).toBe('50 MiB')
})
