/** From what was typed to the operations that say it (DR-43, KN-111). Pure. */
import type { Operation } from '../../../ui/apply'
import { begins, ends, type Validity } from '../../../ui/validity'

export type Role = 'SUPPORTS' | 'CONTRADICTS' | 'CORRECTS'
export type Picked = { source: string; title: string; quote: string; role: Role }

export type BlockChange = 'addition' | 'rumour' | 'dispute' | 'correction' | 'evolution' | 'compression'

export type BlockDraft = {
  text: string
  change: BlockChange
  /** As one writes it: a year, a month, a day or a moment; empty is not known. */
  from: string
  to: string
  citations: readonly Picked[]
  /** Other blocks of the entry whose place a new one takes. */
  supersedes: readonly string[]
}

export type MetadataDraft = {
  name: string
  type: string
  aliases: readonly string[]
  summary: string
  attributes: readonly { key: string; value: string }[]
}

const STANDING: Record<BlockChange, string> = {
  addition: 'settled',
  rumour: 'unconfirmed',
  dispute: 'disputed',
  correction: 'corrected',
  evolution: 'settled',
  compression: 'settled',
}

/** How a block may be changed; own inferences are not reworded but replaced. */
export function changesOf(standing: string): BlockChange[] {
  return standing === 'INFERRED' ? ['correction', 'evolution'] : ['correction', 'evolution', 'compression']
}

/** How a new block may come to the entry; one that takes the place of others says what became of them. */
export const newChanges = (supersedes: readonly string[]): readonly BlockChange[] =>
  supersedes.length === 0 ? ['addition', 'rumour', 'dispute'] : ['correction', 'evolution', 'compression']

export const draftOf = (block: Validity & { text: string; standing: string }): BlockDraft => ({
  text: block.text,
  change: 'correction',
  from: begins(block),
  to: ends(block),
  citations: [],
  supersedes: [],
})

export const EMPTY_BLOCK: BlockDraft = {
  text: '',
  change: 'addition',
  from: '',
  to: '',
  citations: [],
  supersedes: [],
}

/** A new block; one that condenses others rests on all that they rested on, `condensed` (DR-52). */
export function addBlock(entry: string, draft: BlockDraft, condensed: readonly Picked[] = []): Operation {
  const citations = draft.change === 'compression' ? united(condensed, draft.citations) : draft.citations
  const supersedes = draft.supersedes.length === 0 ? {} : { supersedes: draft.supersedes }
  return { op: 'addBlock', entry, ...content(draft, STANDING[draft.change], citations), ...supersedes }
}

function united(...parts: (readonly Picked[])[]): Picked[] {
  const all = new Map(parts.flat().map((one) => [`${one.source} ${one.role} ${one.quote}`, one]))
  return [...all.values()]
}

/**
 * The next version of a block that was opened at `version`. What changed in the world or is only said better keeps
 * what it rested on; a correction rests on the words that correct.
 */
export function editBlock(
  block: string,
  version: number,
  old: { standing: string; citations: readonly Picked[] },
  draft: BlockDraft,
): Operation {
  const standing = draft.change === 'compression' ? old.standing.toLowerCase() : STANDING[draft.change]
  const keeps = draft.change !== 'correction' && draft.citations.length > 0
  const citations = keeps ? [...old.citations, ...draft.citations] : draft.citations
  return { op: 'editBlock', block, expectedVersion: version, ...content(draft, standing, citations) }
}

export const deleteBlock = (block: string, version: number): Operation => ({
  op: 'deleteBlock',
  block,
  expectedVersion: version,
})

function content(draft: BlockDraft, standing: string, citations: readonly Picked[]) {
  return {
    text: draft.text.trim(),
    basis: citations.length > 0 ? 'stated' : 'authored',
    standing,
    change: draft.change,
    citations: citations.map(({ source, quote, role }) => ({ source, quote, role })),
    ...dates(draft),
  }
}

export type RelationDraft = {
  type: string
  object: string
  evidence: Picked | null
  /** What the user says himself, where he picks no source. */
  note: string
  from: string
  to: string
}

export function addRelation(subject: string, draft: RelationDraft): Operation {
  const { type, object, evidence, note } = draft
  const words = evidence ? { source: evidence.source, quote: evidence.quote } : { quote: note.trim() }
  return { op: 'addRelation', subject, type: type.trim(), object, ...words, ...dates(draft) }
}

export function removeRelation(
  relation: string,
  version: number,
  how: 'ended' | 'retracted',
  to: string,
): Operation {
  const end = how === 'ended' && to.trim() !== '' ? { validTo: to.trim() } : {}
  return { op: 'removeRelation', relation, expectedVersion: version, how, ...end }
}

/** One operation for each part that changed; each makes one version of the entry, so the numbers go on. */
export function editMetadata(
  entry: string,
  version: number,
  before: MetadataDraft,
  after: MetadataDraft,
): Operation[] {
  const found: Omit<Operation, 'entry' | 'expectedVersion'>[] = []
  if (after.type !== before.type) found.push({ op: 'setType', type: after.type })
  if (!same(after.aliases, before.aliases)) found.push({ op: 'setAliases', aliases: after.aliases })
  if (after.summary !== before.summary) found.push({ op: 'setSummary', summary: after.summary })
  const attributes = attributeChanges(before.attributes, after.attributes)
  if (attributes) found.push({ op: 'setAttributes', ...attributes })
  // Last, so that the former name is not taken away again with the list of aliases.
  if (after.name.trim() !== before.name) found.push({ op: 'renameEntry', name: after.name.trim() })
  return found.map((one, place) => ({
    ...one,
    op: one.op as string,
    entry,
    expectedVersion: version + place,
  }))
}

function attributeChanges(
  before: MetadataDraft['attributes'],
  after: MetadataDraft['attributes'],
): { set: unknown[]; unset: string[] } | null {
  const old = new Map(before.map(({ key, value }) => [key, value]))
  const kept = new Set(after.map(({ key }) => key.trim()))
  const set = after
    .filter(({ key, value }) => key.trim() !== '' && old.get(key.trim()) !== value)
    .map(({ key, value }) => ({ key: key.trim(), value: valueOf(value), change: 'correction' }))
  const unset = [...old.keys()].filter((key) => !kept.has(key))
  return set.length + unset.length === 0 ? null : { set, unset }
}

/** A number, a truth value or a list where it reads as one; else the text. */
export function valueOf(typed: string): unknown {
  try {
    const read: unknown = JSON.parse(typed)
    const fits = typeof read === 'number' || typeof read === 'boolean' || Array.isArray(read)
    return fits ? read : typed
  } catch {
    return typed
  }
}

export const shownValue = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value)

const same = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((value, place) => value === other[place])

function dates({ from, to }: { from: string; to: string }) {
  return {
    ...(from.trim() === '' ? {} : { validFrom: from.trim() }),
    ...(to.trim() === '' ? {} : { validTo: to.trim() }),
  }
}
