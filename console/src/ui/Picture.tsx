/** A graph as a picture that one can move, zoom and select in. The same data is always there as text beside it. */
import { ActionIcon, Group, useComputedColorScheme } from '@mantine/core'
import cytoscape, { type Core, type ElementDefinition } from 'cytoscape'
import dagre from 'cytoscape-dagre'
import { type Ref, useEffect, useImperativeHandle, useRef } from 'react'
import { useTranslation } from 'react-i18next'

import { named } from './invisible'
import { pictureStyle } from './pictureStyle'

cytoscape.use(dagre)

export type PictureHandle = {
  /** The whole picture as PNG. */
  png: () => Promise<Blob>
}

export type PictureProps = {
  /** Says what is shown, for who cannot see it. */
  label: string
  elements: readonly ElementDefinition[]
  /** `dagre` draws chains from left to right, `concentric` draws the rings that elements name. */
  layout: 'dagre' | 'concentric'
  selected: string | null
  onSelect: (id: string | null, group: 'nodes' | 'edges') => void
  ref?: Ref<PictureHandle>
}

export function Picture({ label, elements, layout, selected, onSelect, ref }: PictureProps) {
  const { t } = useTranslation('ui')
  const box = useRef<HTMLDivElement>(null)
  const core = useRef<Core>(null)
  const tell = useRef(onSelect)
  const dark = useComputedColorScheme('light') === 'dark'

  useEffect(() => {
    tell.current = onSelect
  }, [onSelect])

  useEffect(() => {
    const made = cytoscape({ container: box.current, minZoom: 0.02, maxZoom: 3, selectionType: 'single' })
    made.on('tap', (event) => {
      const target: unknown = event.target
      if (target === made) tell.current(null, 'nodes')
    })
    made.on('tap', 'node', (event) => tell.current((event.target as cytoscape.NodeSingular).id(), 'nodes'))
    made.on('tap', 'edge', (event) => tell.current((event.target as cytoscape.EdgeSingular).id(), 'edges'))
    core.current = made
    return () => {
      core.current = null
      made.destroy()
    }
  }, [])

  useEffect(() => {
    core.current?.style(pictureStyle(dark))
  }, [dark])

  useEffect(() => {
    if (core.current) draw(core.current, elements, layout)
  }, [elements, layout])

  useEffect(() => {
    core.current?.elements().unselect()
    if (selected !== null) core.current?.getElementById(selected).select()
  }, [selected, elements])

  useImperativeHandle(ref, () => ({
    png: async () =>
      core.current
        ? await core.current.png({
            output: 'blob-promise',
            full: true,
            scale: 2,
            bg: dark ? '#1a1b1e' : '#ffffff',
          })
        : new Blob(),
  }))

  const zoom = (by: number) =>
    core.current?.zoom({ level: core.current.zoom() * by, renderedPosition: middleOf(box.current) })
  return (
    <div>
      <div
        ref={box}
        className="picture"
        role="img"
        aria-label={named(label)}
        data-nodes={elements.filter((one) => one.group === 'nodes').length}
      />
      <Group gap={4} mt={4}>
        <ActionIcon variant="default" aria-label={t('picture.closer')} onClick={() => zoom(1.3)}>
          +
        </ActionIcon>
        <ActionIcon variant="default" aria-label={t('picture.further')} onClick={() => zoom(1 / 1.3)}>
          −
        </ActionIcon>
        <ActionIcon
          variant="default"
          aria-label={t('picture.whole')}
          onClick={() => core.current?.fit(undefined, 24)}
        >
          ⤢
        </ActionIcon>
      </Group>
    </div>
  )
}

/** A canvas has no marks: what one cannot see, or what turns a text, is drawn by its name (CO-10). */
function readable(element: ElementDefinition): ElementDefinition {
  const label: unknown = element.data.label
  return typeof label === 'string' ? { ...element, data: { ...element.data, label: named(label) } } : element
}

function draw(core: Core, elements: readonly ElementDefinition[], layout: PictureProps['layout']): void {
  core.json({ elements: elements.map(readable) })
  const options =
    layout === 'dagre'
      ? { name: 'dagre', rankDir: 'LR', nodeSep: 18, rankSep: 150, animate: false, fit: true, padding: 24 }
      : {
          name: 'concentric',
          concentric: (node: { data: (name: string) => number }) => -node.data('ring'),
          levelWidth: () => 1,
          minNodeSpacing: 16,
          animate: false,
          fit: true,
          padding: 24,
        }
  core.layout(options).run()
  if (core.zoom() > 1.2) {
    core.zoom(1.2)
    core.center()
  }
}

function middleOf(box: HTMLElement | null): { x: number; y: number } {
  return { x: (box?.clientWidth ?? 0) / 2, y: (box?.clientHeight ?? 0) / 2 }
}
