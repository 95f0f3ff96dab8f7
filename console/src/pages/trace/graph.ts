/** Which part of a provenance graph is shown: pure functions over what the server has told so far. */
export type Link = { from: string; to: string; type: string; quote: string | null }

export type Direction = 'UPSTREAM' | 'DOWNSTREAM'

export type Known<N extends { id: string }> = {
  root: string
  /** From statements to their sources, or from sources to what rests on them. */
  direction: Direction
  nodes: ReadonlyMap<string, N>
  links: readonly Link[]
  /** Nodes of which all neighbours were told. */
  told: ReadonlySet<string>
}

export type Answer<N extends { id: string }> = {
  nodes: readonly N[]
  edges: readonly Link[]
  truncated: boolean
}

/** A first view has at most so many nodes: more cannot be taken in at a glance. */
export const FIRST_VIEW = 50

const keyOf = (link: Link): string => [link.from, link.to, link.type, link.quote ?? ''].join('\n')

/** Parts of a thing: followed to the parts in both directions. */
const PARTS = /^HAS_/

/** Who read, made or changed something: followed both ways. */
const WORK: ReadonlySet<string> = new Set(['CONSUMED', 'PRODUCED', 'TARGETS'])

export const nothing = <N extends { id: string }>(root: string, direction: Direction): Known<N> => ({
  root,
  direction,
  nodes: new Map(),
  links: [],
  told: new Set(),
})

/** Adds an answer; `about` are the nodes whose neighbours it tells completely, all of them if it is not cut. */
export function learn<N extends { id: string }>(
  known: Known<N>,
  answer: Answer<N>,
  about: readonly string[],
): Known<N> {
  const nodes = new Map([...known.nodes, ...answer.nodes.map((node): [string, N] => [node.id, node])])
  const links = new Map([...known.links, ...answer.edges].map((link) => [keyOf(link), link]))
  const told = answer.truncated ? about : answer.nodes.map((node) => node.id)
  return { ...known, nodes, links: [...links.values()], told: new Set([...known.told, ...told]) }
}

/** The same without some nodes and their links. */
export function without<N extends { id: string }>(known: Known<N>, leftOut: (node: N) => boolean): Known<N> {
  const nodes = new Map([...known.nodes].filter(([id, node]) => id === known.root || !leftOut(node)))
  return { ...known, nodes, links: known.links.filter(({ from, to }) => nodes.has(from) && nodes.has(to)) }
}

/** What is one hop further from each node, in the order in which it was told. */
export function neighbours(known: Known<{ id: string }>): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>()
  const add = (from: string, to: string) => {
    if (!known.nodes.has(from) || !known.nodes.has(to)) return
    const there = found.get(from)
    if (there === undefined) found.set(from, [to])
    else if (!there.includes(to)) there.push(to)
  }
  for (const { from, to, type } of known.links) {
    const both = WORK.has(type)
    if (both || PARTS.test(type) || known.direction === 'UPSTREAM') add(from, to)
    if (both || (!PARTS.test(type) && known.direction === 'DOWNSTREAM')) add(to, from)
  }
  return found
}

export type Shown = {
  /** Hops from the root, by node, nearest first. */
  hops: ReadonlyMap<string, number>
  /** From where a node was reached; the root has none. */
  parents: ReadonlyMap<string, string>
}

/** What is reached from the root through nodes that are open. */
export function shown(known: Known<{ id: string }>, open: ReadonlySet<string>): Shown {
  const near = neighbours(known)
  const hops = new Map<string, number>()
  const parents = new Map<string, string>()
  if (!known.nodes.has(known.root)) return { hops, parents }
  hops.set(known.root, 0)
  for (const [id, distance] of hops) {
    if (!open.has(id)) continue
    for (const next of near.get(id) ?? []) {
      if (hops.has(next)) continue
      hops.set(next, distance + 1)
      parents.set(next, id)
    }
  }
  return { hops, parents }
}

/** Opens nodes from the root on, nearest first, as long as the view stays small enough. */
export function firstOpen(known: Known<{ id: string }>, most: number = FIRST_VIEW): ReadonlySet<string> {
  const near = neighbours(known)
  const seen = new Set([known.root])
  const open = new Set<string>()
  for (const id of seen) {
    const next = near.get(id) ?? []
    // Where the answer ended nothing is open: one more hop is to be asked for.
    if (id !== known.root && next.length === 0 && !known.told.has(id)) continue
    const fresh = next.filter((one) => !seen.has(one))
    // The root is always open, or there would be nothing to look at.
    if (id !== known.root && seen.size + fresh.length > most) continue
    open.add(id)
    fresh.forEach((next) => seen.add(next))
  }
  return open
}

/** Closes the outermost ring: nothing is shown any more that is further than the second last hop. */
export function oneHopLess(known: Known<{ id: string }>, open: ReadonlySet<string>): ReadonlySet<string> {
  const { hops } = shown(known, open)
  const last = Math.max(0, ...hops.values())
  return new Set([...open].filter((id) => (hops.get(id) ?? last) < last - 1))
}

/** How many neighbours of a node are known and not shown; of nodes that are not in it, none are. */
export function hidden(known: Known<{ id: string }>, view: Shown): ReadonlyMap<string, number> {
  const found = new Map<string, number>()
  for (const [id, near] of neighbours(known)) {
    const count = near.filter((next) => !view.hops.has(next)).length
    if (count > 0) found.set(id, count)
  }
  return found
}

/** Links between nodes that are shown. */
export function linksShown(known: Known<{ id: string }>, view: Shown): readonly Link[] {
  return known.links.filter(({ from, to }) => view.hops.has(from) && view.hops.has(to))
}
