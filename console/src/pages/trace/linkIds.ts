/** One line in the picture for all links of one kind between two nodes; its quotes are shown when it is selected. */
import type { Link } from './graph'

export type Bundle = { id: string; from: string; to: string; type: string; quotes: readonly string[] }

const bundleId = (link: Link): string => `link ${link.type} ${link.from} ${link.to}`

export function bundles(links: readonly Link[]): readonly Bundle[] {
  const found = new Map<string, Bundle>()
  for (const link of links) {
    const id = bundleId(link)
    const quotes = [
      ...(found.get(id)?.quotes ?? []),
      ...(link.quote === null || link.quote === '' ? [] : [link.quote]),
    ]
    found.set(id, { id, from: link.from, to: link.to, type: link.type, quotes })
  }
  return [...found.values()]
}

const WORDS = [
  'CITES',
  'DERIVED_FROM',
  'SUMMARIZES',
  'SUPERSEDES',
  'CONSUMED',
  'PRODUCED',
  'TARGETS',
  'HAS_BLOCK',
  'HAS_FACET',
  'HAS_VERSION',
] as const

/** The key of the word for a kind of link. */
export function wordFor(type: string): (typeof WORDS)[number] | 'OTHER' {
  return WORDS.find((one) => one === type) ?? 'OTHER'
}
