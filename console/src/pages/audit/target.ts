/** What a record is about, in the words of its target; of what is gone, in those of its images (CO-52). */
import type { FragmentOf, ResultOf } from '../../api/graphql'
import { readFragment } from '../../api/graphql'
import { type ROW, TARGET } from './documents'
import { imageOf } from './images'

type Row = ResultOf<typeof ROW>

/** The name of the target, or its first words; an empty text if nothing tells it. */
export function targetName(row: Pick<Row, 'target' | 'before' | 'after'>): string {
  return named(row.target) ?? fromImages(row.before, row.after)
}

function named(target: FragmentOf<typeof TARGET> | null): string | undefined {
  const found = target === null ? null : readFragment(TARGET, target)
  switch (found?.__typename) {
    case 'Entry':
      return found.name
    case 'Block':
      return found.entry?.name
    case 'Relation':
      return `${found.subject.name} ${found.type} ${found.object.name}`
    case 'Lesson':
      return short(found.text)
    case 'Source':
      return found.title ?? undefined
    default:
      return undefined
  }
}

function fromImages(before: unknown, after: unknown): string {
  for (const image of [imageOf(after), imageOf(before)])
    for (const word of [image?.name, image?.text, image?.type, firstLine(image?.lines)])
      if (typeof word === 'string') return short(word)
  return ''
}

/** Of a memo. */
const firstLine = (lines: unknown): unknown => (Array.isArray(lines) ? imageOf(lines[0])?.text : undefined)

const short = (text: string): string => (text.length > 60 ? `${text.slice(0, 59)}…` : text)
