/** What an entry is related to, at any moment of both clocks, as a picture and as a table (CO-15). */
import { Alert, Button, Group, MultiSelect, SegmentedControl, Stack, Text } from '@mantine/core'
import { useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'

import { useRead } from '../../api/useRead'
import { useFilters } from '../../app/useFilters'
import { FaultNotice } from '../../ui/FaultNotice'
import { momentIn } from '../../ui/moment'
import { Loading } from '../../ui/Remote'
import { asOf, believedRange, trueRange } from './clock'
import { ClockSlider } from './ClockSlider'
import { Evidence } from './Evidence'
import { NEIGHBORHOOD, type Neighborhood } from './queries'
import { RelationPicture } from './RelationPicture'
import { RelationTable } from './RelationTable'

const FILTERS = ['depth', 'types', 'recorded', 'valid'] as const
const DEPTHS = ['1', '2', '3']

export function RelationExplorer({ entryId }: { entryId: string }) {
  const { t } = useTranslation('relations')
  const filters = useFilters(FILTERS)
  const depth = Number(DEPTHS.find((one) => one === filters.get('depth')) ?? '1')
  const types = filters.all('types')
  const whole = useRead(NEIGHBORHOOD, { id: entryId, depth, types: null, asOf: null })
  const narrowed = useRead(NEIGHBORHOOD, {
    id: entryId,
    depth,
    types: types.length === 0 ? null : types,
    asOf: asOf(momentIn(filters.get('recorded')), momentIn(filters.get('valid'))),
  })
  const fault = whole.fault ?? narrowed.fault
  return (
    <Stack gap="sm">
      <Group align="end">
        <div>
          <Text size="sm" fw={500} id="hops">
            {t('depth')}
          </Text>
          <SegmentedControl
            aria-labelledby="hops"
            data={DEPTHS}
            value={String(depth)}
            onChange={(value) => filters.set({ depth: value === '1' ? null : value })}
          />
        </div>
        <MultiSelect
          label={t('types')}
          placeholder={types.length === 0 ? t('allTypes') : ''}
          clearable
          miw={220}
          data={typesIn(whole.data?.neighborhood, types)}
          value={types}
          onChange={(value) => filters.set({ types: value })}
        />
        {whole.data && <Clocks found={whole.data.neighborhood} />}
      </Group>
      {fault && <FaultNotice fault={fault} retry={narrowed.reload} />}
      {narrowed.data ? (
        <Found found={narrowed.data.neighborhood} entryId={entryId} />
      ) : (
        narrowed.loading && <Loading />
      )}
    </Stack>
  )
}

function typesIn(found: Neighborhood | undefined, chosen: readonly string[]): string[] {
  return [...new Set([...chosen, ...(found?.relations.map(({ type }) => type) ?? [])])].sort()
}

function Clocks({ found }: { found: Neighborhood }) {
  const { t } = useTranslation('relations')
  const filters = useFilters(FILTERS)
  const [now] = useState(() => Date.now())
  const moved = filters.get('recorded') !== '' || filters.get('valid') !== ''
  return (
    <>
      <ClockSlider
        label={t('recorded')}
        rest={t('now')}
        range={believedRange(found, now)}
        value={momentIn(filters.get('recorded'))}
        onChange={(recorded) => filters.set({ recorded })}
      />
      <ClockSlider
        label={t('valid')}
        rest={t('anyTime')}
        range={trueRange(found, now)}
        value={momentIn(filters.get('valid'))}
        onChange={(valid) => filters.set({ valid })}
      />
      {moved && (
        <Button variant="default" size="xs" onClick={() => filters.set({ recorded: null, valid: null })}>
          {t('reset')}
        </Button>
      )}
    </>
  )
}

/** What a selected relation rests on is told where it was selected: a long table takes the picture out of sight. */
type Selection = { selected: string | null; inTable: boolean }

function Found({ found, entryId }: { found: Neighborhood; entryId: string }) {
  const { t } = useTranslation('relations')
  const [{ selected, inTable }, setSelected] = useState<Selection>({ selected: null, inTable: false })
  const relation = useMemo(() => found.relations.find(({ id }) => id === selected), [found, selected])
  if (found.relations.length === 0) return <Text c="dimmed">{t('none')}</Text>
  return (
    <>
      <Text size="sm" c="dimmed" role="status">
        {t('counts', { entries: found.neighbours.length, relations: found.relations.length })}
      </Text>
      {found.truncated && <Alert color="yellow">{t('truncated')}</Alert>}
      <RelationPicture
        found={found}
        entryId={entryId}
        selected={selected}
        onSelect={(id) => setSelected({ selected: id, inTable: false })}
      />
      {!relation && <Text size="sm">{t('select')}</Text>}
      {relation && !inTable && <Evidence relation={relation} />}
      <RelationTable
        found={found}
        selected={selected}
        told={inTable}
        onSelect={(id) => setSelected({ selected: id, inTable: true })}
      />
    </>
  )
}
