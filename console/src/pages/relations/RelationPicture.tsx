/** Entries in rings around the one in the middle, nearer ones further in. */
import type { ElementDefinition } from 'cytoscape'
import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'

import { Picture } from '../../ui/Picture'
import type { Neighborhood } from './queries'

export function RelationPicture({
  found,
  entryId,
  selected,
  onSelect,
}: {
  found: Neighborhood
  entryId: string
  selected: string | null
  onSelect: (id: string | null) => void
}) {
  const { t } = useTranslation('relations')
  const elements = useMemo(() => elementsOf(found, entryId), [found, entryId])
  const what = found.neighbours.find(({ entry }) => entry.id === entryId)?.entry.name ?? ''
  return (
    <Picture
      label={t('label', { count: found.neighbours.length, what })}
      elements={elements}
      layout="concentric"
      selected={selected}
      onSelect={(id, group) => onSelect(group === 'edges' ? id : null)}
    />
  )
}

function elementsOf(found: Neighborhood, entryId: string): ElementDefinition[] {
  const nodes = found.neighbours.map(({ depth, entry }): ElementDefinition => ({
    group: 'nodes',
    data: {
      id: entry.id,
      label: `${entry.name}\n${entry.type}`,
      sort: 'thing',
      depth,
      root: entry.id === entryId,
      more: 0,
    },
  }))
  const edges = found.relations.map(({ id, type, subject, object }): ElementDefinition => ({
    group: 'edges',
    data: { id, source: subject.id, target: object.id, label: type },
  }))
  return [...nodes, ...edges]
}
