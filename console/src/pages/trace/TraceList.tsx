/** The trace as a nested list: each node once, under the one from which it was reached first. */
import { Badge, Group, Text, UnstyledButton } from '@mantine/core'
import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'

import { Told } from '../../ui/Told'
import type { Link } from './graph'
import { useLabel } from './labels'
import { type Bundle, bundles, wordFor } from './linkIds'
import type { TraceNode } from './queries'
import type { Trace } from './useTrace'

type Tree = {
  children: ReadonlyMap<string, readonly string[]>
  between: (a: string, b: string) => readonly Bundle[]
}

type ListProps = {
  trace: Trace
  links: readonly Link[]
  selected: string | null
  onSelect: (id: string) => void
}

export function TraceList({ trace, links, selected, onSelect }: ListProps) {
  const tree = useMemo(() => treeOf(trace, links), [trace, links])
  return (
    <ul className="trace-list">
      <Item id={trace.known.root} trace={trace} tree={tree} selected={selected} onSelect={onSelect} />
    </ul>
  )
}

function treeOf(trace: Trace, links: readonly Link[]): Tree {
  const children = new Map<string, string[]>()
  for (const [child, parent] of trace.view.parents)
    children.set(parent, [...(children.get(parent) ?? []), child])
  const lines = bundles(links)
  const between = (a: string, b: string) =>
    lines.filter(({ from, to }) => (from === a && to === b) || (from === b && to === a))
  return { children, between }
}

type ItemProps = Omit<ListProps, 'links'> & { id: string; tree: Tree }

function Item({ id, trace, tree, selected, onSelect }: ItemProps) {
  const node = trace.known.nodes.get(id)
  if (!node) return null
  const parent = trace.view.parents.get(id)
  const children = tree.children.get(id) ?? []
  return (
    <li>
      <NodeLine
        node={node}
        more={trace.hidden.get(id) ?? 0}
        selected={selected === id}
        onSelect={() => onSelect(id)}
      />
      {parent !== undefined && <Quotes bundles={tree.between(parent, id)} onSelect={onSelect} />}
      {children.length > 0 && (
        <ul className="trace-list">
          {children.map((child) => (
            <Item key={child} id={child} trace={trace} tree={tree} selected={selected} onSelect={onSelect} />
          ))}
        </ul>
      )}
    </li>
  )
}

function NodeLine({
  node,
  more,
  selected,
  onSelect,
}: {
  node: TraceNode
  /** How many next to it are known and not shown. */
  more: number
  selected: boolean
  onSelect: () => void
}) {
  const { t } = useTranslation('trace')
  const labelOf = useLabel()
  const { kind, text } = labelOf(node)
  return (
    <UnstyledButton onClick={onSelect} aria-pressed={selected} className="trace-line">
      <Group gap="xs" wrap="nowrap" align="start">
        <Badge
          variant="outline"
          color="gray"
          c="var(--mantine-color-text)"
          radius="sm"
          style={{ flexShrink: 0 }}
        >
          {kind}
        </Badge>
        <Text size="sm" fw={selected ? 700 : 400}>
          <Told>{text}</Told>
        </Text>
        {more > 0 && (
          <Text size="sm" c="dimmed" style={{ flexShrink: 0 }}>
            {t('behind', { count: more })}
          </Text>
        )}
      </Group>
    </UnstyledButton>
  )
}

function Quotes({
  bundles: lines,
  onSelect,
}: {
  bundles: readonly Bundle[]
  onSelect: (id: string) => void
}) {
  const { t } = useTranslation('trace')
  return lines.map((line) => (
    <UnstyledButton key={line.id} display="block" ps="md" onClick={() => onSelect(line.id)}>
      <Text size="xs" c="dimmed">
        {t(`links.${wordFor(line.type)}`)}
        {line.quotes.map((quote, place) => (
          <span key={place}>
            {' “'}
            <Told>{quote}</Told>
            {'”'}
          </span>
        ))}
      </Text>
    </UnstyledButton>
  ))
}
