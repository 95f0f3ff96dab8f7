/** The order of blocks: an operation puts one behind another, so a block also comes forward when another goes back. Pure. */
import type { Operation } from '../../../ui/apply'
import type { Block } from '../entry'

/** By which operation the block at a place changes with its neighbour; null where it cannot. */
export function moveBlock(blocks: readonly Block[], place: number, by: -1 | 1): Operation | null {
  const [first, second] = by === 1 ? [place, place + 1] : [place - 1, place]
  const [upper, lower] = [blocks[first], blocks[second]]
  if (!upper || !lower) return null
  if (keepsWords(upper)) return behind(upper, lower)
  const before = blocks[first - 1]
  return before && keepsWords(lower) ? behind(lower, before) : null
}

/** A deduction is dated by the day on which it is written, so it cannot be written again unchanged (DR-58). */
const keepsWords = ({ current }: Block): boolean => current.basis !== 'DEDUCED'

/** The same words, in another place: no new version is made of them. */
function behind({ id, current }: Block, other: Block): Operation {
  return {
    op: 'editBlock',
    block: id,
    expectedVersion: current.version,
    text: current.text,
    basis: current.basis.toLowerCase(),
    standing: current.standing.toLowerCase(),
    authority: current.authority,
    change: 'compression',
    validFrom: current.validFrom,
    validTo: current.validTo,
    fromPrecision: current.fromPrecision?.toLowerCase() ?? null,
    toPrecision: current.toPrecision?.toLowerCase() ?? null,
    citations: [],
    after: other.id,
  }
}
