import { describe, expect, it } from 'vitest'

import { drawn, MOST_ENTRIES, MOST_RELATIONS, rings } from './drawing'

const line = (id: string, subject: string, object: string) => ({
  id,
  subject: { id: subject },
  object: { id: object },
})
const star = (entries: number, each: number) => ({
  neighbours: Array.from({ length: entries }, (_, n) => ({ entry: { id: String(n) } })),
  relations: Array.from({ length: entries - 1 }, (_, n) => String(n + 1)).flatMap((other) =>
    Array.from({ length: each }, (_, k) =>
      k % 2 ? line(`${other} ${String(k)}`, '0', other) : line(`${other} ${String(k)}`, other, '0'),
    ),
  ),
})

describe('what is drawn', () => {
  it('is all of a small neighbourhood', () => {
    const found = star(10, 3)
    expect(drawn(found, false)).toEqual(found)
  })

  it('is the nearest of a large one, each of them joined', () => {
    const { neighbours, relations } = drawn(star(200, 10), false)
    expect(neighbours.map(({ entry }) => entry.id)).toEqual(
      Array.from({ length: MOST_ENTRIES }, (_, n) => String(n)),
    )
    expect(relations).toHaveLength(MOST_RELATIONS)
    const joined = new Set(relations.flatMap(({ subject, object }) => [subject.id, object.id]))
    expect(joined.size).toBe(MOST_ENTRIES)
  })

  it('is all if one asks for it', () => {
    expect(drawn(star(200, 10), true).relations).toHaveLength(1990)
  })
})

describe('rings', () => {
  it('hold one distance each', () => {
    expect(rings([0, 1, 1, 2, 3, 3])).toEqual([0, 1, 1, 2, 3, 3])
  })

  it('hold more the further out they are', () => {
    const found = rings([0, ...Array<number>(49).fill(1), 2])
    const sizes = found.reduce<number[]>(
      (sum, ring) => sum.with(ring, (sum[ring] ?? 0) + 1),
      [0, 0, 0, 0, 0, 0],
    )
    expect(sizes).toEqual([1, 8, 16, 24, 1, 1])
  })

  it('of nothing are none', () => {
    expect(rings([])).toEqual([])
  })
})
