/** What the list of entries is narrowed by: names in the address, and what they mean to the API (CO-11, CO-12). */
import type { Filters } from '../../app/useFilters'

export const FILTERS = ['q', 'type', 'kb', 'author', 'from', 'to', 'cites'] as const
export type EntryFilterName = (typeof FILTERS)[number]

/** Those in the panel; `q` has a field of its own, `cites` comes from links alone. */
export const NARROWING = ['type', 'kb', 'author', 'from', 'to'] as const

export type EntryFilter = {
  text?: string
  types?: string[]
  kbIds?: string[]
  authorIds?: string[]
  updatedFrom?: string
  updatedTo?: string
  citesSourceId?: string
}

export function filterOf(filters: Pick<Filters<EntryFilterName>, 'get' | 'all'>): EntryFilter | null {
  const found: EntryFilter = {
    ...text('text', filters.get('q')),
    ...list('types', filters.all('type')),
    ...list('kbIds', filters.all('kb')),
    ...list('authorIds', filters.all('author')),
    ...text('updatedFrom', startOf(filters.get('from'), 0)),
    ...text('updatedTo', startOf(filters.get('to'), 1)),
    ...text('citesSourceId', filters.get('cites')),
  }
  return Object.keys(found).length === 0 ? null : found
}

/** The first moment of a day where the user is, so many days later; nothing for what is no date. */
export function startOf(date: string, later: number): string {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(date)
  if (match === null) return ''
  const at = new Date(Number(match[1]), Number(match[2]) - 1, Number(match[3]) + later)
  return Number.isNaN(at.getTime()) ? '' : at.toISOString()
}

const text = (name: string, value: string): EntryFilter => (value.trim() === '' ? {} : { [name]: value })

const list = (name: string, values: string[]): EntryFilter => (values.length === 0 ? {} : { [name]: values })
