/** The text that agents read, byte for byte, and what it cites; for a chosen read set (CO-21, CO-22). */
import {
  Anchor,
  CopyButton,
  Button,
  Group,
  List,
  Paper,
  SegmentedControl,
  Select,
  Stack,
  Text,
  Title,
} from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router'

import { graphql } from '../../../api/graphql'
import { useRead } from '../../../api/useRead'
import { useOwner } from '../../../app/owner'
import { tracePath } from '../../../app/paths'
import { useFilters } from '../../../app/useFilters'
import { BASE, useBaseName } from '../../../ui/baseName'
import { Exact } from '../../../ui/Exact'
import { Markdown } from '../../../ui/Markdown'
import { Remote } from '../../../ui/Remote'
import { Told } from '../../../ui/Told'
import { useOpenEntry } from '../entry'
import { footnotesOf } from './footnotes'

const PROJECTION = graphql(`
  query Projection($id: ID!, $kb: ID) {
    entry(id: $id) {
      projection(kbId: $kb)
    }
  }
`)

const READ_SETS = graphql(
  `
    query ReadSets($owner: ID!) {
      knowledgeBases(ownerId: $owner, first: 100) {
        edges {
          node {
            id
            ...BaseName
          }
        }
      }
    }
  `,
  [BASE],
)

const FILTERS = ['kb'] as const

export function ProjectionPage() {
  const { t } = useTranslation('entry')
  const { entry } = useOpenEntry()
  const filters = useFilters(FILTERS)
  const kb = filters.get('kb') === '' ? null : filters.get('kb')
  const read = useRead(PROJECTION, { id: entry.id, kb })
  return (
    <Stack>
      <ReadSet value={kb} onChange={(chosen) => filters.set({ kb: chosen })} />
      {/* The entry is there; what is missing is the read set, or the entry in it. */}
      {read.fault?.code === 'NOT_FOUND' || read.data?.entry === null ? (
        <Text>{t('projection.notThere')}</Text>
      ) : (
        <Remote read={read} pick={(data) => data.entry?.projection}>
          {(text) => <Projected text={text} />}
        </Remote>
      )}
    </Stack>
  )
}

function ReadSet({ value, onChange }: { value: string | null; onChange: (kb: string | null) => void }) {
  const { t } = useTranslation('entry')
  const { t: ui } = useTranslation('ui')
  const owner = useOwner()
  const baseName = useBaseName()
  const { data } = useRead(READ_SETS, { owner: owner.id })
  const bases = (data?.knowledgeBases.edges ?? []).map(({ node }) => ({
    value: node.id,
    label: baseName(node),
  }))
  return (
    <Select
      label={t('projection.readSet')}
      description={t('projection.readSetHint')}
      placeholder={t('projection.mine')}
      clearable
      data={bases}
      value={value}
      onChange={onChange}
      maw={420}
      clearButtonProps={{ 'aria-label': ui('clearOne') }}
    />
  )
}

function Projected({ text }: { text: string }) {
  const { t } = useTranslation('entry')
  const [as, setAs] = useState('text')
  return (
    <>
      <Group justify="space-between">
        <SegmentedControl
          aria-label={t('projection.as')}
          value={as}
          onChange={setAs}
          data={[
            { value: 'text', label: t('projection.text') },
            { value: 'rendered', label: t('projection.rendered') },
          ]}
        />
        <CopyButton value={text}>
          {({ copied, copy }) => (
            <Button variant="default" size="xs" onClick={copy}>
              {copied ? t('projection.copied') : t('projection.copy')}
            </Button>
          )}
        </CopyButton>
      </Group>
      <Paper withBorder p="md">
        {as === 'text' ? <Exact label={t('projection.label')}>{text}</Exact> : <Markdown>{text}</Markdown>}
      </Paper>
      <Cited text={text} />
    </>
  )
}

function Cited({ text }: { text: string }) {
  const { t } = useTranslation('entry')
  const owner = useOwner()
  const notes = footnotesOf(text)
  return (
    <section aria-labelledby="cited-title">
      <Title order={3} size="h5" mb="xs" id="cited-title">
        {t('projection.cited')}
      </Title>
      {notes.length === 0 && <Text c="dimmed">{t('projection.noneCited')}</Text>}
      <List type="ordered" size="sm" spacing={4}>
        {notes.map((one) => (
          <List.Item key={one.number}>
            <Anchor component={Link} to={tracePath(owner.id, one.source)} size="sm">
              <Told>{one.title}</Told>
            </Anchor>
            {' · '}
            <Told>{one.kind.replaceAll('\\', '').replaceAll('_', ' ')}</Told> · {one.day}
          </List.Item>
        ))}
      </List>
    </section>
  )
}
