import { describe, expect, it } from 'vitest'

import {
  type Direction,
  FIRST_VIEW,
  firstOpen,
  hidden,
  type Known,
  learn,
  type Link,
  linksShown,
  nothing,
  oneHopLess,
  shown,
  without,
} from './graph'

const link = (from: string, to: string): Link => ({ from, to, type: 'CITES', quote: null })

function known(
  pairs: readonly [string, string][],
  root = 'a',
  direction: Direction = 'UPSTREAM',
): Known<{ id: string }> {
  const ids = new Set([root, ...pairs.flat()])
  const nodes = [...ids].map((id) => ({ id }))
  return learn(
    nothing<{ id: string }>(root, direction),
    { nodes, edges: pairs.map(([f, t]) => link(f, t)), truncated: false },
    [],
  )
}

const chain: readonly [string, string][] = [
  ['a', 'b'],
  ['b', 'c'],
  ['c', 'd'],
]

describe('what is shown', () => {
  it('is reached from the root through open nodes, nearest first', () => {
    const view = shown(known(chain), new Set(['a', 'b']))
    expect([...view.hops]).toEqual([
      ['a', 0],
      ['b', 1],
      ['c', 2],
    ])
    expect(view.parents.get('c')).toBe('b')
  })

  it('meets a diamond once and ends on a cycle', () => {
    const view = shown(known([...chain, ['a', 'c'], ['d', 'a']]), new Set(['a', 'b', 'c', 'd']))
    expect([...view.hops.keys()].sort()).toEqual(['a', 'b', 'c', 'd'])
    expect(view.hops.get('c')).toBe(1)
  })

  it('is nothing while nothing is known', () => {
    expect(shown(nothing('a', 'UPSTREAM'), new Set(['a'])).hops.size).toBe(0)
  })

  it('follows links to sources, or back to what rests on them, and never both', () => {
    const fan = known([
      ['a', 's'],
      ['b', 's'],
    ])
    expect([...shown(fan, new Set(['a', 's'])).hops.keys()]).toEqual(['a', 's'])
    const back = known(
      [
        ['a', 's'],
        ['b', 's'],
      ],
      's',
      'DOWNSTREAM',
    )
    expect([...shown(back, new Set(['s', 'a'])).hops.keys()]).toEqual(['s', 'a', 'b'])
  })

  it('follows parts and work in both directions', () => {
    const links: Link[] = [
      { from: 'e', to: 'b', type: 'HAS_BLOCK', quote: null },
      { from: 'r', to: 'b', type: 'PRODUCED', quote: null },
    ]
    const nodes = ['e', 'b', 'r'].map((id) => ({ id }))
    for (const direction of ['UPSTREAM', 'DOWNSTREAM'] as const) {
      const all = learn(
        nothing<{ id: string }>('e', direction),
        { nodes, edges: links, truncated: false },
        [],
      )
      expect([...shown(all, new Set(['e', 'b'])).hops.keys()]).toEqual(['e', 'b', 'r'])
    }
  })

  it('has the links between shown nodes alone', () => {
    const all = known(chain)
    expect(linksShown(all, shown(all, new Set(['a'])))).toEqual([link('a', 'b')])
  })
})

describe('the first view', () => {
  it('opens everything of a small graph', () => {
    expect(shown(known(chain), firstOpen(known(chain))).hops.size).toBe(4)
  })

  it('leaves closed what an answer that was cut says nothing about, so that it can be expanded', () => {
    const nodes = ['a', 'b', 'c'].map((id) => ({ id }))
    const edges = [link('a', 'b'), link('b', 'c')]
    const cut = learn(nothing<{ id: string }>('a', 'UPSTREAM'), { nodes, edges, truncated: true }, [])
    expect([...firstOpen(cut)]).toEqual(['a', 'b'])
    expect([...firstOpen(learn(cut, { nodes: [{ id: 'c' }], edges: [], truncated: false }, []))]).toEqual([
      'a',
      'b',
      'c',
    ])
  })

  it('has at most fifty nodes of a large one', () => {
    const wide = Array.from({ length: 10 }, (_, n): [string, string] => ['a', `s${n}`])
    const deep = wide.flatMap(([, from]) =>
      Array.from({ length: 10 }, (_, n): [string, string] => [from, `${from}.${n}`]),
    )
    const large = known([...wide, ...deep])
    const view = shown(large, firstOpen(large))
    expect(view.hops.size).toBeLessThanOrEqual(FIRST_VIEW)
    expect(view.hops.size).toBeGreaterThan(30)
    expect(hidden(large, view).get('s9')).toBe(10)
  })

  it('always shows what is next to the root', () => {
    const star = known(Array.from({ length: 80 }, (_, n): [string, string] => ['a', `s${n}`]))
    expect(shown(star, firstOpen(star)).hops.size).toBe(81)
  })
})

describe('without', () => {
  it('leaves nodes and their links out, but never the root', () => {
    const all = without(known(chain), ({ id }) => id === 'c' || id === 'a')
    expect([...all.nodes.keys()]).toEqual(['a', 'b', 'd'])
    expect(all.links).toEqual([link('a', 'b')])
  })
})

describe('one hop less', () => {
  it('takes away the outermost ring, one at a time', () => {
    const all = known(chain)
    const once = oneHopLess(all, new Set(['a', 'b', 'c']))
    expect([...shown(all, once).hops.keys()]).toEqual(['a', 'b', 'c'])
    const twice = oneHopLess(all, oneHopLess(all, once))
    expect([...shown(all, twice).hops.keys()]).toEqual(['a'])
  })
})

describe('learning', () => {
  it('knows a link once, however often it is told', () => {
    const all = known(chain)
    expect(
      learn(all, { nodes: [{ id: 'a' }], edges: [link('a', 'b')], truncated: true }, ['a']).links,
    ).toHaveLength(3)
  })

  it('takes a cut answer as complete only for the nodes that it is about', () => {
    const cut = learn(
      nothing<{ id: string }>('a', 'UPSTREAM'),
      { nodes: [{ id: 'a' }, { id: 'b' }], edges: [link('a', 'b')], truncated: true },
      ['a'],
    )
    expect([...cut.told]).toEqual(['a'])
  })
})
