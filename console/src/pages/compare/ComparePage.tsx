/** What was believed at two moments, for one entry or for all that a search finds. */
import { Checkbox, Group, SimpleGrid, Stack, Text, TextInput, Title } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'

import { passes } from '../../api/fault'
import { graphql } from '../../api/graphql'
import { useAllPages, usePages } from '../../api/usePages'
import { useRead } from '../../api/useRead'
import { NotFound } from '../../app/NotFound'
import { useOwner } from '../../app/owner'
import { useFilters } from '../../app/useFilters'
import { EntrySelect } from '../../ui/EntrySelect'
import { FaultNotice } from '../../ui/FaultNotice'
import { PageTitle } from '../../ui/PageTitle'
import { Loading } from '../../ui/Remote'
import { ShownOf } from '../../ui/ShownOf'
import { momentIn } from '../../ui/moment'
import { compare, differs, mentions } from './differences'
import { Moment } from './Moment'
import { OneComparison } from './OneComparison'
import { BASES, DELETED, FOUND } from './queries'
import { type Pair, useBeliefs } from './useBeliefs'

const FILTERS = ['entry', 'q', 'then', 'later', 'changed'] as const
const MONTH_MS = 30 * 86_400_000

export function Component() {
  const { t } = useTranslation('compare')
  const filters = useFilters(FILTERS)
  const [monthAgo] = useState(() => new Date(Date.now() - MONTH_MS).toISOString())
  const then = momentIn(filters.get('then')) || monthAgo
  const later = momentIn(filters.get('later'))
  const wrong = later !== '' && Date.parse(later) <= Date.parse(then)
  return (
    <Stack gap="sm">
      <Title order={2} size="h3">
        {t('title')}
      </Title>
      <Text size="sm">{t('intro')}</Text>
      <SimpleGrid cols={{ base: 1, sm: 2, lg: 4 }} spacing="sm">
        <ChosenEntry />
        <SearchField />
        <Moment
          label={t('then')}
          value={then}
          error={wrong ? t('order') : undefined}
          onChange={(value) => filters.set({ then: value })}
        />
        <Moment
          label={t('now')}
          description={t('nowHint')}
          value={later}
          onChange={(value) => filters.set({ later: value })}
        />
      </SimpleGrid>
      {!wrong && <Compared then={then} later={later} />}
    </Stack>
  )
}

const CHOSEN = graphql(`
  query ChosenToCompare($id: ID!) {
    node(id: $id) {
      id
      ... on Entry {
        name
        type
        readOnly
        knowledgeBase {
          id
        }
      }
    }
  }
`)

function ChosenEntry() {
  const { t } = useTranslation('compare')
  const filters = useFilters(FILTERS)
  const id = filters.get('entry')
  const { data } = useRead(CHOSEN, { id }, { pause: id === '' })
  const owner = useOwner()
  const node = id !== '' && data?.node?.__typename === 'Entry' ? data.node : null
  return (
    <>
      <PageTitle inner parts={[node?.name, t('title'), owner.name]} />
      <EntrySelect
        required={false}
        label={t('entry')}
        value={node && { ...node, base: node.knowledgeBase.id }}
        onChange={(entry) => filters.set({ entry: entry?.id ?? null, q: null })}
      />
    </>
  )
}

function SearchField() {
  const { t } = useTranslation('compare')
  const filters = useFilters(FILTERS)
  const [typed, setTyped] = useState(filters.get('q'))
  const tell = useDebouncedCallback((q: string) => filters.set({ q, entry: null }), 200)
  return (
    <TextInput
      label={t('search')}
      description={t('searchHint')}
      value={typed}
      onChange={(event) => {
        setTyped(event.currentTarget.value)
        tell(event.currentTarget.value)
      }}
    />
  )
}

function Compared({ then, later }: { then: string; later: string }) {
  const { t } = useTranslation('compare')
  const filters = useFilters(FILTERS)
  const { entry, text } = { entry: filters.get('entry'), text: filters.get('q').trim() }
  if (entry !== '') return <OneEntry key={entry} id={entry} then={then} later={later} />
  if (text === '') return <Text c="dimmed">{t('choose')}</Text>
  return <Searched key={text} text={text} then={then} later={later} />
}

type Moments = { then: string; later: string }

function OneEntry({ id, then, later }: Moments & { id: string }) {
  const { t } = useTranslation('compare')
  const owner = useOwner()
  const beliefs = useBeliefs([id], then, later)
  const now = useRead(CHOSEN, { id })
  const pair = beliefs.pairs[0]
  if (beliefs.fault) return <FaultNotice fault={beliefs.fault} retry={beliefs.retry} />
  if (pair === undefined || now.loading) return <Loading />
  // Belongs to another agent, or was there neither then nor later and is not now: as if there never was one (CO-6).
  if (pair.owner !== undefined && pair.owner !== owner.id) return <NotFound />
  if (pair.then ?? pair.later) return <Pairs pairs={[pair]} />
  if (now.fault && passes(now.fault)) return <FaultNotice fault={now.fault} retry={now.reload} />
  return now.data?.node?.__typename === 'Entry' ? <Text c="dimmed">{t('neither')}</Text> : <NotFound />
}

/** Entries that the search finds now, and those that it would have found then and that were deleted since. */
function Searched({ text, then, later }: Moments & { text: string }) {
  const owner = useOwner()
  const found = usePages(FOUND, { owner: owner.id, text, after: null }, (data) => data.entries)
  const gone = useDeleted(then)
  const current = (found.rows ?? []).map(({ id }) => id)
  const ids = [...new Set([...current, ...(gone.rows ?? []).map(({ targetId }) => targetId)])]
  const beliefs = useBeliefs(found.rows && gone.rows ? ids : NONE, then, later)
  const fault = found.fault ?? gone.fault ?? beliefs.fault
  const retry = found.fault ? found.retry : gone.fault ? gone.retry : beliefs.retry
  const fits = ({ id, then: before, later: after }: Pair) =>
    (before ?? after) !== null && (current.includes(id) || mentions(before, text))
  const waits = found.rows === undefined || gone.rows === undefined || beliefs.loading
  return (
    <>
      {(!waits || beliefs.pairs.length > 0) && <Pairs pairs={beliefs.pairs.filter(fits)} />}
      {fault ? <FaultNotice fault={fault} retry={retry} /> : waits && <Loading />}
      {(found.totalCount ?? 0) > AT_ONCE && (
        <ShownOf
          shown={current.length}
          total={found.totalCount ?? current.length}
          onMore={found.hasMore ? found.more : undefined}
          busy={found.loadingMore || beliefs.loading}
        />
      )}
    </>
  )
}

const NONE: readonly string[] = []

/** Entries that a search finds at a time. */
const AT_ONCE = 20

/** All entries that were deleted since a moment. */
function useDeleted(since: string) {
  const owner = useOwner()
  const bases = useRead(BASES, { owner: owner.id })
  const ids = bases.data?.knowledgeBases.edges.map(({ node }) => node.id)
  const pages = usePages(DELETED, { bases: ids ?? null, from: since, after: null }, (data) => data.auditLog, {
    pause: ids === undefined,
  })
  const all = useAllPages(pages)
  if (bases.fault) return { ...all, fault: bases.fault, retry: bases.reload }
  return all
}

function Pairs({ pairs }: { pairs: readonly Pair[] }) {
  const { t } = useTranslation('compare')
  const filters = useFilters(FILTERS)
  const changed = pairs.filter((pair) => differs(compare(pair.then, pair.later)))
  const only = filters.get('changed') !== ''
  return (
    <>
      <Group>
        <Text size="sm" role="status">
          {t('differences', { changed: changed.length, total: pairs.length })}
        </Text>
        <Checkbox
          label={t('onlyChanged')}
          checked={only}
          onChange={(event) => filters.set({ changed: event.currentTarget.checked ? '1' : null })}
        />
      </Group>
      {(only ? changed : pairs).map((pair) => (
        <OneComparison key={pair.id} pair={pair} />
      ))}
    </>
  )
}
