/** What was believed at two moments, for one entry or for all that a search finds. */
import { Checkbox, Group, Stack, Text, TextInput, Title } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'

import { graphql } from '../../api/graphql'
import { usePages } from '../../api/usePages'
import { useRead } from '../../api/useRead'
import { useOwner } from '../../app/owner'
import { useFilters } from '../../app/useFilters'
import { EntrySelect } from '../../ui/EntrySelect'
import { FaultNotice } from '../../ui/FaultNotice'
import { PageTitle } from '../../ui/PageTitle'
import { Loading } from '../../ui/Remote'
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
      <Group align="start">
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
      </Group>
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
  if (entry !== '') return <Pairs ids={[entry]} then={then} later={later} keep={() => true} />
  if (text === '') return <Text c="dimmed">{t('choose')}</Text>
  return <Searched key={text} text={text} then={then} later={later} />
}

/** Entries that the search finds now, and those that it would have found then and that were deleted since. */
function Searched({ text, then, later }: { text: string; then: string; later: string }) {
  const owner = useOwner()
  const found = usePages(FOUND, { owner: owner.id, text, after: null }, (data) => data.entries)
  const bases = useRead(BASES, { owner: owner.id })
  const ids = bases.data?.knowledgeBases.edges.map(({ node }) => node.id)
  const deleted = useRead(DELETED, { bases: ids ?? null, from: then }, { pause: ids === undefined })
  const gone = useMemo(
    () => deleted.data?.auditLog.edges.map(({ node }) => node.targetId) ?? [],
    [deleted.data],
  )
  const fault = found.fault ?? bases.fault ?? deleted.fault
  if (fault) return <FaultNotice fault={fault} retry={found.reload} />
  if (found.rows === undefined || deleted.data === undefined) return <Loading />
  const current = found.rows.map(({ id }) => id)
  const keep = ({ id, then: before }: Pair) => current.includes(id) || mentions(before, text)
  return <Pairs ids={[...new Set([...current, ...gone])]} then={then} later={later} keep={keep} />
}

function Pairs({
  ids,
  then,
  later,
  keep,
}: {
  ids: readonly string[]
  then: string
  later: string
  keep: (pair: Pair) => boolean
}) {
  const { t } = useTranslation('compare')
  const filters = useFilters(FILTERS)
  const { pairs, fault } = useBeliefs(ids, then, later)
  if (fault) return <FaultNotice fault={fault} />
  if (pairs === undefined) return <Loading />
  const shown = pairs.filter((pair) => (pair.then ?? pair.later) !== null && keep(pair))
  const changed = shown.filter((pair) => differs(compare(pair.then, pair.later)))
  const only = filters.get('changed') !== ''
  return (
    <>
      <Group>
        <Text size="sm" role="status">
          {t('differences', { changed: changed.length, total: shown.length })}
        </Text>
        <Checkbox
          label={t('onlyChanged')}
          checked={only}
          onChange={(event) => filters.set({ changed: event.currentTarget.checked ? '1' : null })}
        />
      </Group>
      {(only ? changed : shown).map((pair) => (
        <OneComparison key={pair.id} pair={pair} />
      ))}
    </>
  )
}
