/** The trace as a picture: what is believed above, what it rests on below it. */
import type { ElementDefinition } from 'cytoscape'
import { type Ref, useMemo } from 'react'
import { useTranslation } from 'react-i18next'

import { Picture, type PictureHandle } from '../../ui/Picture'
import type { Link } from './graph'
import { useLabel, start } from './labels'
import { bundles, wordFor } from './linkIds'
import type { Trace } from './useTrace'

const NODE_CHARS = 60
const LINK_CHARS = 40

export function TracePicture({
  trace,
  links,
  selected,
  onSelect,
  ref,
}: {
  trace: Trace
  links: readonly Link[]
  selected: string | null
  onSelect: (id: string | null) => void
  ref: Ref<PictureHandle>
}) {
  const { t } = useTranslation('trace')
  const labelOf = useLabel()
  const { known, view, hidden } = trace
  const elements = useMemo<ElementDefinition[]>(() => {
    const nodes = [...view.hops].flatMap(([id]): ElementDefinition[] => {
      const node = known.nodes.get(id)
      if (!node) return []
      const { kind, text, sort } = labelOf(node)
      const more = hidden.get(id) ?? 0
      const head = more > 0 ? `${kind} +${String(more)}` : kind
      const label = text === '' ? head : `${head}\n${start(text, NODE_CHARS)}`
      return [{ group: 'nodes', data: { id, label, sort, root: id === known.root, more } }]
    })
    const edges = bundles(links).map(({ id, from, to, type, quotes }): ElementDefinition => ({
      group: 'edges',
      data: {
        id,
        source: from,
        target: to,
        label: quotes[0] === undefined ? t(`links.${wordFor(type)}`) : `“${start(quotes[0], LINK_CHARS)}”`,
      },
    }))
    return [...nodes, ...edges]
  }, [known, view, hidden, links, t, labelOf])
  const root = known.nodes.get(known.root)
  const what = root ? start(labelOf(root).text, NODE_CHARS) : ''
  return (
    <Picture
      ref={ref}
      label={t('pictureLabel', { count: view.hops.size, what })}
      elements={elements}
      layout="dagre"
      selected={selected}
      onSelect={onSelect}
    />
  )
}
