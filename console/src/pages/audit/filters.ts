/** The filters of the Audit tab: their names in the address, and what they ask of the API (CO-51). */
import type { VariablesOf } from '../../api/graphql'
import type { Filters } from '../../app/useFilters'
import type { RECORDS } from './documents'

export const FILTERS = ['kb', 'op', 'kind', 'actor', 'run', 'from', 'to', 'target', 'tx'] as const
export type FilterName = (typeof FILTERS)[number]
export type AuditFilter = VariablesOf<typeof RECORDS>['filter']

export const ACTOR_KINDS = ['HUMAN', 'AGENT', 'DREAMING', 'CONNECTOR', 'SYSTEM'] as const
export type ActorKind = (typeof ACTOR_KINDS)[number]

export function auditFilter(
  owner: string,
  { all, get }: Pick<Filters<FilterName>, 'all' | 'get'>,
): AuditFilter {
  const several = (name: FilterName) => {
    const values = all(name)
    return values.length === 0 ? null : values
  }
  return {
    ownerId: owner,
    kbIds: several('kb'),
    operations: several('op'),
    actorIds: several('actor'),
    actorKinds: kinds(all('kind')),
    dreamRunId: get('run') || null,
    targetId: get('target') || null,
    txId: get('tx') || null,
    from: dayStart(get('from')),
    to: dayStart(get('to'), 1),
  }
}

function kinds(given: readonly string[]): ActorKind[] | null {
  const known = ACTOR_KINDS.filter((kind) => given.includes(kind))
  return known.length === 0 ? null : known
}

/** The moment a day of the reader's calendar begins, or so many days later; null for what is no day. */
export function dayStart(day: string, later = 0): string | null {
  const [, year, month, date] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(day) ?? []
  if (year === undefined) return null
  const start = new Date(Number(year), Number(month) - 1, Number(date) + later)
  return Number.isNaN(start.getTime()) ? null : start.toISOString()
}

/** A day of the reader's calendar as `2026-03-01`, so many days before a moment. */
export function dayBefore(now: Date, days: number): string {
  const day = new Date(now.getFullYear(), now.getMonth(), now.getDate() - days)
  const two = (value: number) => String(value).padStart(2, '0')
  return `${day.getFullYear()}-${two(day.getMonth() + 1)}-${two(day.getDate())}`
}
