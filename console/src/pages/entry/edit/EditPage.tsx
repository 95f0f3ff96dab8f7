/** The page where an entry is read and changed: metadata, blocks, relations, and the sources behind them (CO-14, CO-20). */
import { Anchor, Button, Group, List, Paper, Stack, Text, Title } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router'

import { usePages } from '../../../api/usePages'
import { useOwner } from '../../../app/owner'
import { tracePath } from '../../../app/paths'
import { Rows } from '../../../ui/Rows'
import { Told } from '../../../ui/Told'
import { shownTime } from '../../../ui/When'
import { blocksOf, useOpenEntry } from '../entry'
import { SOURCES } from '../queries'
import { BlockCard } from './BlockCard'
import { BlockForm } from './BlockForm'
import { Metadata } from './Metadata'
import { RelationList } from './Relations'

export function EditPage() {
  return (
    <Stack>
      <Metadata />
      <Blocks />
      <RelationList />
      <Sources />
    </Stack>
  )
}

function Blocks() {
  const { t } = useTranslation('entry')
  const { entry, mayEdit } = useOpenEntry()
  const [adding, setAdding] = useState(false)
  const blocks = blocksOf(entry)
  return (
    <section aria-labelledby="blocks-title">
      <Group justify="space-between" mb="xs">
        <Title order={3} size="h5" id="blocks-title">
          {t('block.title')}
        </Title>
        {mayEdit && !adding && (
          <Button variant="default" size="xs" onClick={() => setAdding(true)}>
            {t('block.add')}
          </Button>
        )}
      </Group>
      <Stack gap="xs">
        {blocks.length === 0 && <Text c="dimmed">{t('block.none')}</Text>}
        {blocks.map((block) => (
          <BlockCard key={block.id} block={block} />
        ))}
        {adding && (
          <Paper withBorder p="sm">
            <BlockForm onDone={() => setAdding(false)} />
          </Paper>
        )}
      </Stack>
    </section>
  )
}

function Sources() {
  const { t } = useTranslation('entry')
  const { t: ui, i18n } = useTranslation('ui')
  const owner = useOwner()
  const { entry } = useOpenEntry()
  const pages = usePages(SOURCES, { id: entry.id, after: null }, (data) => data.entry?.sources)
  return (
    <section aria-labelledby="sources-title">
      <Title order={3} size="h5" mb="xs" id="sources-title">
        {t('source.title')}
      </Title>
      <Rows pages={pages} empty={t('source.none')}>
        {(rows) => (
          <List spacing={4} size="sm">
            {rows.map((one) => (
              <List.Item key={one.id}>
                <Anchor component={Link} to={tracePath(owner.id, one.id)} size="sm">
                  {ui('citation.from', {
                    kind: ui(`sourceKind.${one.kind}`),
                    when: shownTime(one.occurredAt, i18n.language),
                  })}
                </Anchor>
                {' · '}
                <Told>{one.title ?? one.speakerName}</Told>
                {one.state !== 'LIVE' && ` · ${ui(`sourceState.${one.state}`)}`}
              </List.Item>
            ))}
          </List>
        )}
      </Rows>
    </section>
  )
}
