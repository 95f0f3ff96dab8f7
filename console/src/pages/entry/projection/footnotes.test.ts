import { expect, test } from 'vitest'

import { footnotesOf } from './footnotes'

const TEXT = `# Lin
person · updated 2025-05-10T09:00:00.000Z

## Facts

Likes barbecue [^1]

## Sources

[^1]: message, "Lin, of Ops", 2023-06-03, c3Jj
[^2]: human\\_note, "Ana", 2025-05-10, bm90
`

test('finds the sources of the last section', () => {
  expect(footnotesOf(TEXT)).toEqual([
    { number: 1, kind: 'message', title: 'Lin, of Ops', day: '2023-06-03', source: 'c3Jj' },
    { number: 2, kind: 'human\\_note', title: 'Ana', day: '2025-05-10', source: 'bm90' },
  ])
})

test('without a section there is none', () => {
  expect(footnotesOf('# Lin\n')).toEqual([])
})
