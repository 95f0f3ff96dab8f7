/** What a record keeps of its target before and after, field by field. */
export type Image = Readonly<Record<string, unknown>> | null

export type FieldChange = { field: string; before: string; after: string }

export const imageOf = (value: unknown): Image =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Image) : null

/** The fields that differ; of what came or went, all that say something. Fields of the text come first. */
export function changes(before: Image, after: Image): FieldChange[] {
  const fields = [...new Set([...Object.keys(after ?? {}), ...Object.keys(before ?? {})])]
  return fields
    .filter((field) => !LEFT_OUT.has(field) && (field !== 'position' || fields.length <= 2))
    .sort((one, other) => rank(one) - rank(other))
    .map((field) => ({ field, before: said(field, before?.[field]), after: said(field, after?.[field]) }))
    .filter((change) => change.before !== change.after)
}

/** Ids mean nothing to a reader; a place does only where nothing but it changed. */
const LEFT_OUT = new Set(['entryId', 'derivedFrom', 'nameSupport', 'overlayId', 'summaryFrom'])

const FIRST = ['name', 'text', 'summary', 'type', 'aliases', 'lines']

function rank(field: string): number {
  const place = FIRST.indexOf(field)
  return place < 0 ? FIRST.length : place
}

function said(field: string, value: unknown): string {
  if (value === null || value === undefined) return ''
  if (field === 'blocks') return parts(value, 'text').join('\n\n')
  if (field === 'relations') return parts(value, 'type').join('\n')
  if (typeof value !== 'object') return `${value as string | number | boolean}`
  return lines('', value).join('\n')
}

/** A line for each value that says something: `1 quote: I went vegetarian`. */
function lines(path: string, value: unknown): string[] {
  if (value === null || value === undefined || value === '') return []
  if (typeof value !== 'object') {
    const text = `${value as string | number | boolean}`
    return [path === '' ? text : `${path}: ${text}`]
  }
  const list = Array.isArray(value)
  return Object.entries(value as Record<string, unknown>)
    .filter(([key]) => list || !SILENT.has(key))
    .flatMap(([key, one]) => lines(`${path} ${list ? Number(key) + 1 : key}`.trim(), one))
}

/** Ids and places inside of a field; the quote itself says more. */
const SILENT = new Set(['start', 'end', 'sourceId', 'speakerId', 'saidAt', 'derivedFrom', 'id'])

/** Of a whole entry's blocks or relations, which come by id. */
const parts = (value: unknown, field: string): string[] =>
  Object.values(imageOf(value) ?? {})
    .map(imageOf)
    .sort((one, other) => Number(one?.position ?? 0) - Number(other?.position ?? 0))
    .map((part) => part?.[field])
    .filter((text) => typeof text === 'string')

export type OmittedRelation = { id: string; type: string; other: string | null }

/** What a deleted entry's own image says of relations that cannot return (CO-59). */
export function omitted(
  record: { before: unknown; targetId: string },
  ids: readonly string[],
): OmittedRelation[] {
  const relations = imageOf(imageOf(record.before)?.relations)
  return ids.map((id) => {
    const found = imageOf(relations?.[id]) ?? imageOf(record.before)
    const ends = [found?.subjectId, found?.objectId].filter((end) => typeof end === 'string')
    return {
      id,
      type: typeof found?.type === 'string' ? found.type : '',
      other: ends.find((end) => end !== record.targetId) ?? null,
    }
  })
}
