/** The two clocks of a relation: when it was believed, and when it is true. Pure functions for their sliders. */
import type { Neighborhood } from './queries'

export type Range = { from: number; to: number }

const DAY_MS = 86_400_000

/** From when the first of these entries was made until now. */
export function believedRange(found: Neighborhood, now: number): Range {
  const made = found.neighbours.map(({ entry }) => Date.parse(entry.createdAt))
  return { from: Math.min(now - DAY_MS, ...made), to: now }
}

/** From the first to the last moment at which anything begins or ends, and at least until now. */
export function trueRange(found: Neighborhood, now: number): Range {
  const moments = found.relations
    .flatMap(({ validFrom, validTo }) => [validFrom, validTo])
    .filter((at) => at !== null)
    .map((at) => Date.parse(at))
  return { from: Math.min(now - DAY_MS, ...moments), to: Math.max(now, ...moments) }
}

/** What the API is asked for two positions; null is now for the first clock, and any time for the second. */
export function asOf(recorded: string, valid: string): { recorded?: string; valid?: string } | null {
  if (recorded === '' && valid === '') return null
  return { ...(recorded === '' ? {} : { recorded }), ...(valid === '' ? {} : { valid }) }
}
