/** The sources that a projection cites, as its own last section lists them (KN-38). */
export type Footnote = { number: number; kind: string; title: string; day: string; source: string }

const HEADING = '\n## Sources\n'
const LINE = /^\[\^(\d+)\]: ([^,]+), (.*), (\d{4}-\d{2}-\d{2}), (\S+)$/

export function footnotesOf(projection: string): Footnote[] {
  const start = projection.lastIndexOf(HEADING)
  if (start === -1) return []
  return projection
    .slice(start + HEADING.length)
    .split('\n')
    .flatMap((line) => {
      const [, number, kind, title, day, source] = LINE.exec(line) ?? []
      if (!number || !kind || title === undefined || !day || !source) return []
      return [{ number: Number(number), kind, title: title.replace(/^"(.*)"$/, '$1'), day, source }]
    })
}
