/** The page where an entry is read and changed: metadata, blocks, relations, and the sources behind them (CO-14, CO-20). */
import { Anchor, Button, Group, List, Paper, Stack, Text, Title } from '@mantine/core'
import { useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router'

import type { ResultOf } from '../../../api/graphql'
import { type Pages, usePages } from '../../../api/usePages'
import { useOwner } from '../../../app/owner'
import { tracePath } from '../../../app/paths'
import { Loading } from '../../../ui/Remote'
import { Rows } from '../../../ui/Rows'
import { Told } from '../../../ui/Told'
import { useReturning } from '../../../ui/useReturning'
import { shownTime } from '../../../ui/When'
import { blocksOf, OpenEntry, useOpenEntry } from '../entry'
import { RELATIONS, SOURCES } from '../queries'
import { BlockCard } from './BlockCard'
import { BlockForm } from './BlockForm'
import { Metadata } from './Metadata'
import { RelationList } from './Relations'

type Source = NonNullable<ResultOf<typeof SOURCES>['entry']>['sources']['edges'][number]['node']

export function EditPage() {
  const open = useOpenEntry()
  const { id } = open.entry
  const relations = usePages(RELATIONS, { id, after: null }, (data) => data.entry?.relations)
  const sources = usePages(SOURCES, { id, after: null }, (data) => data.entry?.sources)
  const [reloadEntry, reloadRelations, reloadSources] = [open.reload, relations.reload, sources.reload]
  const all = useMemo(() => {
    const reload = () => {
      reloadEntry()
      reloadRelations()
      reloadSources()
    }
    return { ...open, reload }
  }, [open, reloadEntry, reloadRelations, reloadSources])
  // Shown together: what is above the other would push it down when it comes later.
  const come = [relations, sources].every((pages) => pages.rows !== undefined || pages.fault !== undefined)
  return (
    <OpenEntry value={all}>
      <Stack>
        <Metadata />
        <Blocks />
        {come ? (
          <>
            <RelationList pages={relations} />
            <Sources pages={sources} />
          </>
        ) : (
          <Loading />
        )}
      </Stack>
    </OpenEntry>
  )
}

function Blocks() {
  const { t } = useTranslation('entry')
  const { entry, mayEdit } = useOpenEntry()
  const [adding, setAdding] = useState(false)
  const opener = useReturning(adding)
  const blocks = blocksOf(entry)
  return (
    <section aria-labelledby="blocks-title">
      <Group justify="space-between" mb="xs">
        <Title order={3} size="h5" id="blocks-title">
          {t('block.title')}
        </Title>
        {mayEdit && !adding && (
          <Button ref={opener} variant="default" size="xs" onClick={() => setAdding(true)}>
            {t('block.add')}
          </Button>
        )}
      </Group>
      <Stack gap="xs">
        {blocks.length === 0 && <Text c="dimmed">{t('block.none')}</Text>}
        {blocks.map((block, place) => (
          <BlockCard key={block.id} block={block} place={place} />
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

function Sources({ pages }: { pages: Pages<Source> }) {
  const { t } = useTranslation('entry')
  const { t: ui, i18n } = useTranslation('ui')
  const owner = useOwner()
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
