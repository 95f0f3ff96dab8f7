/** The chain from a statement to its sources, as a picture and as a list, hop by hop. */
import {
  Alert,
  Button,
  Grid,
  Group,
  Paper,
  SegmentedControl,
  Stack,
  Switch,
  Text,
  Title,
} from '@mantine/core'
import { useMemo, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useParams } from 'react-router'

import { NotFound } from '../../app/NotFound'
import { useOwner } from '../../app/owner'
import { useFilters } from '../../app/useFilters'
import { FaultNotice } from '../../ui/FaultNotice'
import { PageTitle } from '../../ui/PageTitle'
import type { PictureHandle } from '../../ui/Picture'
import { Loading } from '../../ui/Remote'
import { Told } from '../../ui/Told'
import { Downloads } from './Downloads'
import { type Direction, linksShown } from './graph'
import { useLabel } from './labels'
import { LinkPanel, NodePanel } from './panels'
import { TraceList } from './TraceList'
import { TracePicture } from './TracePicture'
import { type Trace, useTrace } from './useTrace'
import { WhyVisible } from './WhyVisible'

const FILTERS = ['direction', 'view', 'why', 'work'] as const

export function Component() {
  const { node = '' } = useParams()
  const filters = useFilters(FILTERS)
  const direction: Direction = filters.get('direction') === 'DOWNSTREAM' ? 'DOWNSTREAM' : 'UPSTREAM'
  const work = filters.get('work') !== ''
  return <OneTrace key={`${node} ${direction} ${String(work)}`} id={node} direction={direction} work={work} />
}

function OneTrace({ id, direction, work }: { id: string; direction: Direction; work: boolean }) {
  const trace = useTrace(id, direction, work)
  if (trace.missing) return <NotFound />
  if (trace.known.nodes.size === 0 && trace.fault)
    return <FaultNotice fault={trace.fault} retry={trace.reload} />
  return (
    <Stack gap="sm">
      <Heading trace={trace} />
      {trace.known.nodes.size === 0 ? <Loading /> : <Loaded trace={trace} direction={direction} />}
    </Stack>
  )
}

function Heading({ trace }: { trace: Trace }) {
  const { t } = useTranslation('trace')
  const labelOf = useLabel()
  const root = trace.known.nodes.get(trace.known.root)
  const owner = useOwner()
  const label = root && labelOf(root)
  const title = label ? `${t('title')}: ${label.kind}` : t('title')
  // Names alone: what was said has no place in the history of a browser.
  const name = root?.__typename === 'Entry' ? root.name : undefined
  return (
    <div>
      <PageTitle inner parts={[name, title, owner.name]} />
      <Title order={2} size="h3">
        {title}
      </Title>
      {label && (
        <Text mih="1.5em">
          <Told>{label.text}</Told>
        </Text>
      )}
    </div>
  )
}

function Loaded({ trace, direction }: { trace: Trace; direction: Direction }) {
  const { t } = useTranslation('trace')
  const filters = useFilters(FILTERS)
  const [selected, setSelected] = useState(() => itsWords(trace))
  const picture = useRef<PictureHandle>(null)
  const links = useMemo(() => linksShown(trace.known, trace.view), [trace.known, trace.view])
  const asList = filters.get('view') === 'list'
  const select = (found: string | null) => setSelected(found)
  return (
    <>
      <Group justify="space-between">
        <Group>
          <SegmentedControl
            aria-label={t('direction')}
            value={direction}
            onChange={(value) => filters.set({ direction: value })}
            data={[
              { value: 'UPSTREAM', label: t('UPSTREAM') },
              { value: 'DOWNSTREAM', label: t('DOWNSTREAM') },
            ]}
          />
          <SegmentedControl
            aria-label={t('view')}
            value={asList ? 'list' : 'picture'}
            onChange={(value) => filters.set({ view: value === 'list' ? 'list' : null })}
            data={[
              { value: 'picture', label: t('picture') },
              { value: 'list', label: t('list') },
            ]}
          />
          <Switch
            label={t('work')}
            checked={filters.get('work') !== ''}
            onChange={(event) => filters.set({ work: event.currentTarget.checked ? '1' : null })}
          />
        </Group>
        <Group>
          <Button variant="default" size="xs" onClick={trace.expandAll} loading={trace.busy}>
            {t('more')}
          </Button>
          <Button variant="default" size="xs" onClick={trace.shrinkAll} disabled={trace.view.hops.size <= 1}>
            {t('less')}
          </Button>
          <Button
            variant={filters.get('why') ? 'filled' : 'default'}
            size="xs"
            aria-pressed={filters.get('why') !== ''}
            onClick={() => filters.set({ why: filters.get('why') ? null : trace.known.root })}
          >
            {t('why.button')}
          </Button>
          <Downloads root={trace.known.root} direction={direction} picture={asList ? null : picture} />
        </Group>
      </Group>
      {trace.fault && <FaultNotice fault={trace.fault} />}
      {filters.get('why') && (
        <Paper withBorder p="md" className="why" tabIndex={0}>
          <WhyVisible id={filters.get('why')} nodes={trace.known.nodes} />
        </Paper>
      )}
      <Text size="sm" c="dimmed" role="status">
        {t('nodes', { count: trace.view.hops.size, links: links.length })}
        {trace.known.told.size < trace.known.nodes.size && ` · ${t('cut')}`}
      </Text>
      <Grid>
        <Grid.Col span={{ base: 12, md: 8 }}>
          {asList ? (
            <TraceList trace={trace} links={links} selected={selected} onSelect={select} />
          ) : (
            <TracePicture ref={picture} trace={trace} links={links} selected={selected} onSelect={select} />
          )}
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 4 }}>
          <div className="trace-panel">
            <Selected trace={trace} selected={selected} onWhy={(id) => filters.set({ why: id })} />
          </div>
        </Grid.Col>
      </Grid>
    </>
  )
}

/** The root, if it is a source: who follows a citation is shown the words at once. */
function itsWords({ known }: Trace): string | null {
  return known.nodes.get(known.root)?.__typename === 'Source' ? known.root : null
}

function Selected({
  trace,
  selected,
  onWhy,
}: {
  trace: Trace
  selected: string | null
  onWhy: (id: string) => void
}) {
  const { t } = useTranslation('trace')
  if (selected === null) return <Alert color="gray">{t('select')}</Alert>
  const node = trace.known.nodes.get(selected)
  if (node) return <NodePanel key={selected} node={node} trace={trace} onWhy={() => onWhy(selected)} />
  return <LinkPanel link={selected} trace={trace} />
}
