/** Entries in rings around the one in the middle, nearer ones further in. */
import { Button, Group, Text } from '@mantine/core'
import type { ElementDefinition } from 'cytoscape'
import { useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'

import { Picture } from '../../ui/Picture'
import { drawn, rings } from './drawing'
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
  const [all, setAll] = useState(false)
  const part = useMemo(() => drawn(found, all), [found, all])
  const elements = useMemo(() => elementsOf(part, entryId), [part, entryId])
  const cut = part.relations.length < found.relations.length
  const what = found.neighbours.find(({ entry }) => entry.id === entryId)?.entry.name ?? ''
  return (
    <div>
      <Picture
        label={t('label', { count: part.neighbours.length, what })}
        elements={elements}
        layout="concentric"
        selected={selected}
        onSelect={(id, group) => onSelect(group === 'edges' ? id : null)}
      />
      {cut && (
        <Group gap="sm" mt="xs">
          <Text size="sm">
            {t('drawn', { entries: part.neighbours.length, relations: part.relations.length })}
          </Text>
          <Button variant="default" size="xs" onClick={() => setAll(true)}>
            {t('drawAll')}
          </Button>
        </Group>
      )}
    </div>
  )
}

type Part = Pick<Neighborhood, 'neighbours' | 'relations'>

function elementsOf(
  { neighbours, relations }: { [name in keyof Part]: Readonly<Part[name]> },
  entryId: string,
): ElementDefinition[] {
  const ringOf = rings(neighbours.map(({ depth }) => depth))
  const nodes = neighbours.map(({ entry }, place): ElementDefinition => ({
    group: 'nodes',
    data: {
      id: entry.id,
      label: `${entry.name}\n${entry.type}`,
      sort: 'thing',
      ring: ringOf[place],
      root: entry.id === entryId,
      more: 0,
    },
  }))
  const edges = relations.map(({ id, type, subject, object }): ElementDefinition => ({
    group: 'edges',
    data: { id, source: subject.id, target: object.id, label: type },
  }))
  return [...nodes, ...edges]
}
