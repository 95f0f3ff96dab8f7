/** What a node of a trace is called: its kind in words, and the start of what it says. */
import type { TFunction } from 'i18next'
import { useCallback } from 'react'
import { useTranslation } from 'react-i18next'

import type { Sort } from '../../ui/pictureStyle'
import { shownTime } from '../../ui/When'
import type { TraceNode } from './queries'

export type Label = { kind: string; text: string; sort: Sort }

const SORTS: Partial<Record<string, Sort>> = {
  Source: 'source',
  SessionItem: 'source',
  ChatItem: 'source',
  MemoryFile: 'source',
  Entry: 'thing',
  Block: 'thing',
  DreamRun: 'work',
  DreamBatch: 'work',
  AuditRecord: 'work',
  Turn: 'work',
}

/** What made a statement or changed it, and is no evidence for it. */
export const isWork = (node: TraceNode): boolean => SORTS[node.__typename ?? ''] === 'work'

type Words = TFunction<['trace', 'ui']>

/** Names nodes in the language of now. */
export function useLabel(): (node: TraceNode) => Label {
  const { t, i18n } = useTranslation(['trace', 'ui'])
  return useCallback((node) => labelOf(node, t, i18n.language), [t, i18n.language])
}

function labelOf(node: TraceNode, t: Words, language: string): Label {
  const name = node.__typename ?? 'Node'
  const kind =
    node.__typename === 'Source' ? t(`ui:sourceKind.${node.sourceKind}`) : t(`kinds.${known(name)}`)
  return { kind, text: textOf(node, t, language), sort: SORTS[name] ?? 'statement' }
}

function textOf(node: TraceNode, t: Words, language: string): string {
  switch (node.__typename) {
    case 'Source':
      return (
        node.sourceTitle ??
        [node.author?.displayName ?? node.speakerName, shownTime(node.saidAt, language)]
          .filter(Boolean)
          .join(', ')
      )
    case 'BlockVersion':
      return node.blockText
    case 'Block':
      return node.current?.text ?? ''
    case 'Entry':
      return node.name
    case 'Facet':
      return node.facetValue
    case 'Attribute':
      return node.attributeKey
    case 'Relation':
      return `${node.subject.name} – ${node.relationType} – ${node.object.name}`
    case 'Episode':
      return node.topic
    case 'MemoLine':
      return node.lineText
    case 'Lesson':
      return node.lessonText
    case 'DreamRun':
      return t('stage', { stage: node.stage, when: shownTime(node.startedAt, language) })
    case 'AuditRecord':
      return `${node.seq} ${node.operation}`
    default:
      return restOf(node)
  }
}

function restOf(node: TraceNode): string {
  const rest = node as Partial<Record<string, unknown>>
  const found = ['factKey', 'agentKey', 'layer', 'itemType', 'chatItemType', 'path'].map((name) => rest[name])
  return found.filter((one) => typeof one === 'string').join(' ')
}

const KINDS = [
  'Source',
  'BlockVersion',
  'Block',
  'Entry',
  'EntryVersion',
  'Facet',
  'Attribute',
  'Relation',
  'RelationVersion',
  'Episode',
  'MemoLine',
  'ResidentMemo',
  'Lesson',
  'DreamRun',
  'DreamBatch',
  'AuditRecord',
  'SessionFact',
  'AgentEntry',
  'BotEntry',
  'SessionItem',
  'ChatItem',
  'MemoryFile',
  'MemoryRevision',
  'Turn',
] as const

/** The kind under which words for a type are found; a type that this console does not know is a `Node`. */
export function known(name: string): (typeof KINDS)[number] | 'Node' {
  return KINDS.find((one) => one === name) ?? 'Node'
}

/** The start of a text, cut between characters that belong together. */
export function start(text: string, most: number): string {
  const chars = [...new Intl.Segmenter().segment(text)]
  return chars.length <= most
    ? text
    : `${chars
        .slice(0, most - 1)
        .map((one) => one.segment)
        .join('')}…`
}
