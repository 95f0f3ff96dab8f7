/** What of a neighbourhood is drawn, and in which ring: pure functions over what the server told. */

/** More cannot be taken in at a glance, and takes a browser long to draw. */
export const MOST_ENTRIES = 50
export const MOST_RELATIONS = 200

/** Entries in the innermost ring; each further one has room for so many more. */
const INNERMOST = 8

type End = { id: string }
type Line = { subject: End; object: End }

/** The nearest entries and what joins them: one relation for each two first, so that none of them hangs in the air. */
export function drawn<N extends { entry: End }, R extends Line>(
  found: { neighbours: readonly N[]; relations: readonly R[] },
  all: boolean,
): { neighbours: readonly N[]; relations: readonly R[] } {
  const small = found.neighbours.length <= MOST_ENTRIES && found.relations.length <= MOST_RELATIONS
  if (all || small) return found
  const neighbours = found.neighbours.slice(0, MOST_ENTRIES)
  const there = new Set(neighbours.map(({ entry }) => entry.id))
  const among = found.relations.filter(({ subject, object }) => there.has(subject.id) && there.has(object.id))
  return { neighbours, relations: onePerPairFirst(among).slice(0, MOST_RELATIONS) }
}

function onePerPairFirst<R extends Line>(relations: readonly R[]): readonly R[] {
  const first = new Map<string, R>()
  for (const one of relations) {
    const pair = [one.subject.id, one.object.id].sort().join(' ')
    if (!first.has(pair)) first.set(pair, one)
  }
  const firsts = new Set(first.values())
  return [...firsts, ...relations.filter((one) => !firsts.has(one))]
}

/** The ring of each entry, by its hops, which never fall: a ring holds one distance, and no more than it has room for. */
export function rings(hops: readonly number[]): readonly number[] {
  let [ring, held, at] = [0, 0, 0]
  return hops.map((distance) => {
    if (distance > at || (ring > 0 && held === INNERMOST * ring)) [ring, held] = [ring + 1, 0]
    at = distance
    held += 1
    return ring
  })
}
