/** Which places each answer of the help leads to, step by step. */
export type Place =
  | 'entries'
  | 'materials'
  | 'audit'
  | 'settings'
  | 'alerts'
  | 'vectors'
  | 'embedding'
  | 'stage-a'
  | 'stage-b'
  | 'stuck'
  | 'lint'

export const QUESTIONS = {
  notFound: [['entries'], ['embedding', 'vectors']],
  wrong: [['entries'], ['audit']],
  learning: [['materials'], ['stuck', 'alerts']],
  several: [['lint'], ['entries']],
  nothing: [['settings'], ['stage-b', 'stuck']],
  scope: [['stage-a'], ['stage-a']],
} as const satisfies Record<string, readonly [readonly Place[], readonly Place[]]>
