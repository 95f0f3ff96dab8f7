/** What a record keeps of its target before and after, field by field. */
export type Image = Readonly<Record<string, unknown>> | null

export type FieldChange = { field: string; before: string; after: string }

export const imageOf = (value: unknown): Image =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Image) : null

/** The fields that differ; of what came or went, all that say something. Fields of the text come first. */
export function changes(before: Image, after: Image, word: Word = PLAIN): FieldChange[] {
  const fields = [...new Set([...Object.keys(after ?? {}), ...Object.keys(before ?? {})])]
  return fields
    .filter((field) => !LEFT_OUT.has(field) && (field !== 'position' || fields.length <= 2))
    .sort((one, other) => rank(one) - rank(other))
    .map((field) => ({
      field,
      before: said(field, before?.[field], word),
      after: said(field, after?.[field], word),
    }))
    .filter((change) => change.before !== change.after)
}

/** Ids mean nothing to a reader; a place does only where nothing but it changed. */
const LEFT_OUT = new Set(['entryId', 'derivedFrom', 'nameSupport', 'overlayId', 'summaryFrom'])

const FIRST = ['name', 'text', 'summary', 'type', 'aliases', 'lines']

function rank(field: string): number {
  const place = FIRST.indexOf(field)
  return place < 0 ? FIRST.length : place
}

/** A word of the API in the language of the reader; undefined for a field or a value that has none. */
export type Word = (field: string, value: string) => string | undefined

const PLAIN: Word = () => undefined

function said(field: string, value: unknown, word: Word): string {
  if (value === null || value === undefined) return ''
  if (field === 'blocks') return parts(value, 'text').join('\n\n')
  if (field === 'relations') return parts(value, 'type').join('\n')
  if (QUOTES.has(field))
    return items(value)
      .map((one) => quoted(one, word))
      .join('\n')
  if (field === 'lines')
    return items(value)
      .flatMap((one) => lineOf(one, word))
      .join('\n')
  if (typeof value === 'string') return word(field, value) ?? value
  if (typeof value !== 'object') return `${value as number | boolean}`
  return lines('', value).join('\n')
}

const QUOTES = new Set(['citations', 'evidence'])

/** Whether each line of a field is one thing. */
export const isList = (field: string): boolean => field === 'lines' || QUOTES.has(field)

const items = (value: unknown): Image[] => (Array.isArray(value) ? value.map(imageOf) : [])

/** `“I went vegetarian” (corrects)`; that a quote supports goes without saying. */
function quoted(citation: Image, word: Word): string {
  const { quote, role } = citation ?? {}
  const text = typeof quote === 'string' && quote !== '' ? `“${quote}”` : '“…”'
  return typeof role !== 'string' || role === 'supports' ? text : `${text} (${word('role', role) ?? role})`
}

/** A line of a memo, then the quotes that it rests on. */
function lineOf(line: Image, word: Word): string[] {
  const quotes = items(line?.citations).map((one) => `  ${quoted(one, word)}`)
  return [typeof line?.text === 'string' ? line.text : '', ...quotes]
}

/** A line for each value that says something: `floor: 3`. */
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
