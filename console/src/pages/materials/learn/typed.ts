/** What was typed into the form of a new material. Pure. */
import { fits } from '../../../ui/limit'

export const KINDS = ['file', 'text', 'url'] as const
export type Kind = (typeof KINDS)[number]

export type Typed = { kind: Kind; title: string; file: File | null; text: string; url: string }

export const EMPTY: Typed = { kind: 'file', title: '', file: null, text: '', url: '' }

/** Whether there is something to learn. */
export function isReady({ kind, title, file, text, url }: Typed): boolean {
  if (!fits(title, 'title')) return false
  if (kind === 'file') return file !== null
  return (kind === 'text' ? text : url).trim() !== ''
}
