/** One entry: its editor pages, each at its own address (CO-14, CO-19, CO-30). */
import { Alert, Anchor, Group, Stack, Tabs, Text, Title } from '@mantine/core'
import { lazy, Suspense, useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { Link, useNavigate, useParams } from 'react-router'

import type { ResultOf } from '../../api/graphql'
import { useRead } from '../../api/useRead'
import { NotFound } from '../../app/NotFound'
import { useOwner } from '../../app/owner'
import { EDITOR_PAGES, type EditorPage, entryPath, tabPath } from '../../app/paths'
import { useBaseName } from '../../ui/baseName'
import { KeepTyped } from '../../ui/KeepTyped'
import { Mark } from '../../ui/Mark'
import { PageTitle } from '../../ui/PageTitle'
import { Loading, Remote } from '../../ui/Remote'
import { Told } from '../../ui/Told'
import { When } from '../../ui/When'
import { Actions } from './Actions'
import { EntryAudit } from './audit/EntryAudit'
import { EditPage } from './edit/EditPage'
import { type Entry, isWritable, OpenEntry, useOpenEntry } from './entry'
import { ProjectionPage } from './projection/ProjectionPage'
import { ENTRY } from './queries'

const Relations = lazy(() => import('./RelationsPage'))

export function Component() {
  const owner = useOwner()
  const { entry: id = '', page = 'edit' } = useParams()
  const read = useRead(ENTRY, { id })
  if (!isPage(page)) return <NotFound />
  return (
    <Remote read={read} pick={(data) => ofOwner(data, owner.id)}>
      {(entry) => <OneEntry key={entry.id} entry={entry} page={page} reload={read.reload} />}
    </Remote>
  )
}

const isPage = (found: string): found is EditorPage => EDITOR_PAGES.some((page) => page === found)

/** An entry belongs under the address of its owner alone. */
const ofOwner = ({ entry }: ResultOf<typeof ENTRY>, owner: string): Entry | null =>
  entry?.owner.id === owner ? entry : null

function OneEntry({ entry, page, reload }: { entry: Entry; page: EditorPage; reload: () => void }) {
  const { t } = useTranslation('entry')
  const owner = useOwner()
  const navigate = useNavigate()
  const open = useMemo(() => ({ entry, reload, mayEdit: isWritable(entry) }), [entry, reload])
  return (
    <OpenEntry value={open}>
      <PageTitle inner parts={[entry.name, t(`pages.${page}`), owner.name]} />
      <KeepTyped>
        <Stack>
          <Heading />
          <Mirrored />
          <Tabs
            value={page}
            keepMounted={false}
            onChange={(to) => void navigate(entryPath(owner.id, entry.id, (to ?? 'edit') as EditorPage))}
          >
            <Tabs.List aria-label={t('pagesLabel')}>
              {EDITOR_PAGES.map((one) => (
                <Tabs.Tab key={one} value={one}>
                  {t(`pages.${one}`)}
                </Tabs.Tab>
              ))}
            </Tabs.List>
            <Tabs.Panel value="edit" pt="md">
              <EditPage />
            </Tabs.Panel>
            <Tabs.Panel value="projection" pt="md">
              <ProjectionPage />
            </Tabs.Panel>
            <Tabs.Panel value="audit" pt="md">
              <EntryAudit />
            </Tabs.Panel>
            <Tabs.Panel value="relations" pt="md">
              <Suspense fallback={<Loading />}>
                <Relations />
              </Suspense>
            </Tabs.Panel>
          </Tabs>
        </Stack>
      </KeepTyped>
    </OpenEntry>
  )
}

function Heading() {
  const { t } = useTranslation('entry')
  const { entry, mayEdit } = useOpenEntry()
  const owner = useOwner()
  const baseName = useBaseName()
  return (
    <Group justify="space-between" align="start">
      <div>
        <Anchor component={Link} to={tabPath(owner.id, 'entries')} size="sm">
          {t('back')}
        </Anchor>
        <Group gap="xs">
          <Title order={2}>
            <Told>{entry.name}</Told>
          </Title>
          <Mark>{entry.type}</Mark>
          {entry.readOnly && <Mark sign="⧉">{t('mark.mirror')}</Mark>}
          {entry.marks.disputed && <Mark sign="⇄">{t('mark.disputed')}</Mark>}
          {entry.marks.stale && <Mark sign="⌛">{t('mark.stale')}</Mark>}
          {!mayEdit && <Mark sign="🔒">{t('mark.readOnly')}</Mark>}
        </Group>
        <Text size="sm" c="dimmed" component="div">
          <Told>{baseName(entry.knowledgeBase)}</Told> · {t('updated')} <When at={entry.updatedAt} />
          {entry.lastModifier && (
            <>
              {' · '}
              <Told>{entry.lastModifier.displayName}</Told>
            </>
          )}
        </Text>
      </div>
      <Actions />
    </Group>
  )
}

function Mirrored() {
  const { t } = useTranslation('entry')
  const { entry } = useOpenEntry()
  if (!entry.readOnly) return null
  const { mirror } = entry
  return (
    <Alert color="blue" title={t('mirror.title')}>
      <Text size="sm">{t('mirror.text')}</Text>
      {mirror && (
        <Text size="sm" component="div">
          {t('mirror.connector')}: <Told>{mirror.connector?.displayName ?? t('mirror.hidden')}</Told> ·{' '}
          {t('mirror.version')}: <Told>{mirror.sourceVersion}</Told> · {t('mirror.synced')}:{' '}
          <When at={mirror.connector?.lastSyncAt ?? mirror.syncedAt} />
        </Text>
      )}
    </Alert>
  )
}
