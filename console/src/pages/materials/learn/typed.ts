/** What was typed into the form of a new material. Pure. */
export const KINDS = ['file', 'text', 'url'] as const
export type Kind = (typeof KINDS)[number]

export type Typed = { kind: Kind; title: string; file: File | null; text: string; url: string }

export const EMPTY: Typed = { kind: 'file', title: '', file: null, text: '', url: '' }

/** Whether there is something to learn. */
export function isReady({ kind, file, text, url }: Typed): boolean {
  if (kind === 'file') return file !== null
  return (kind === 'text' ? text : url).trim() !== ''
}
