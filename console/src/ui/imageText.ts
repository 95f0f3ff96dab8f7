/** What an audit record keeps of its target, as lines of text that can be compared word by word (CO-23). */

type Plain = null | string | number | boolean | readonly Plain[] | { readonly [key: string]: Plain }

/** Ids and places of quotes say nothing to a reader; the quote itself does. */
const LEFT_OUT = new Set(['start', 'end', 'source', 'sourceId', 'speakerId', 'entryId', 'derivedFrom', 'id'])

/** One line for each value that is set: `text: Vegetarian`, `citations 1 quote: I went vegetarian`. */
export function imageText(image: unknown): string {
  return lines('', image as Plain).join('\n')
}

function lines(path: string, value: Plain): string[] {
  if (value === null || value === '') return []
  if (typeof value !== 'object') return [path === '' ? String(value) : `${path}: ${String(value)}`]
  if (isList(value)) {
    if (value.every((one) => typeof one === 'string'))
      return value.length ? [`${path}: ${value.join(', ')}`] : []
    return value.flatMap((one, place) => lines(`${path} ${place + 1}`, one))
  }
  return Object.entries(value)
    .filter(([key]) => !LEFT_OUT.has(key))
    .flatMap(([key, one]) => lines(path === '' ? key : `${path} ${key}`, one))
}

const isList = (value: object): value is readonly Plain[] => Array.isArray(value)
