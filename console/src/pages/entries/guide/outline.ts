/** The guide as a text: front matter that is enforced, and Markdown that is read (CO-33, KN-107). */
export type GuideParts = { front: string; body: string }

const FRONT = /^---[^\S\n]*\n([\s\S]*?)\n?---[^\S\n]*(?:\n|$)/

/** The front matter without its fences, empty if there is none, and the rest. */
export function partsOf(text: string): GuideParts {
  const lines = text.replaceAll('\r\n', '\n')
  const match = FRONT.exec(lines)
  return match === null
    ? { front: '', body: lines }
    : { front: match[1] ?? '', body: lines.slice(match[0].length).trimStart() }
}

/** Where a line begins and ends in a text; lines count from 1, and one too far is the last. */
export function placeOf(text: string, line: number): { start: number; end: number } {
  const lines = text.split('\n')
  const wanted = Math.min(Math.max(line, 1), lines.length)
  const start = lines.slice(0, wanted - 1).reduce((sum, one) => sum + one.length + 1, 0)
  return { start, end: start + (lines[wanted - 1]?.length ?? 0) }
}
