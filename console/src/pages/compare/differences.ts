/** What differs between what was believed at two moments: pure functions. */
import type { Told } from './queries'

export type Belief = {
  name: string
  type: string
  summary: string
  aliases: string
  statements: ReadonlyMap<string, string>
  relations: ReadonlyMap<string, string>
}

export type Change = {
  id: string
  kind: 'same' | 'changed' | 'added' | 'removed'
  before: string
  after: string
}

export type Difference = {
  fields: readonly Change[]
  statements: readonly Change[]
  relations: readonly Change[]
}

/** What an entry said at a moment; null if it was not there, not yet or no more. */
export function beliefOf(told: Told, at: number): Belief | null {
  if (!told || Date.parse(told.createdAt) > at) return null
  if (told.deletedAt !== null && Date.parse(told.deletedAt) <= at) return null
  return {
    name: told.name,
    type: told.type,
    summary: told.summary,
    aliases: told.aliases.join(', '),
    statements: new Map(
      told.blocks.flatMap(({ id, current }) => (current ? [[id, current.text] as const] : [])),
    ),
    relations: new Map(
      told.relations.edges.map(
        ({ node }) => [node.id, `${node.subject.name} – ${node.type} – ${node.object.name}`] as const,
      ),
    ),
  }
}

export function compare(then: Belief | null, later: Belief | null): Difference {
  return {
    fields: changes(fieldsOf(then), fieldsOf(later)),
    statements: changes(then?.statements ?? new Map(), later?.statements ?? new Map()),
    relations: changes(then?.relations ?? new Map(), later?.relations ?? new Map()),
  }
}

export function differs({ fields, statements, relations }: Difference): boolean {
  return [...fields, ...statements, ...relations].some(({ kind }) => kind !== 'same')
}

const FIELDS = ['name', 'type', 'summary', 'aliases'] as const

function fieldsOf(belief: Belief | null): ReadonlyMap<string, string> {
  return new Map(
    belief ? FIELDS.map((field) => [field, belief[field]] as const).filter(([, text]) => text !== '') : [],
  )
}

function changes(then: ReadonlyMap<string, string>, later: ReadonlyMap<string, string>): readonly Change[] {
  return [...new Set([...then.keys(), ...later.keys()])].map((id) => change(id, then.get(id), later.get(id)))
}

function change(id: string, before: string | undefined, after: string | undefined): Change {
  if (before === undefined) return { id, kind: 'added', before: '', after: after ?? '' }
  if (after === undefined) return { id, kind: 'removed', before, after: '' }
  return { id, kind: before === after ? 'same' : 'changed', before, after }
}

/** True if every word is somewhere in a belief, as the keyword search takes them. */
export function mentions(belief: Belief | null, text: string): boolean {
  if (!belief) return false
  const all = [belief.name, belief.summary, belief.aliases, ...belief.statements.values()]
    .join('\n')
    .toLowerCase()
  return text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
    .every((word) => all.includes(word))
}
