/** Narrowing the audit by knowledge base, operation, actor, run of Dreaming and date (CO-51). */
import { Button, Group, MultiSelect, Pill, Select, SimpleGrid, TextInput } from '@mantine/core'
import { useTranslation } from 'react-i18next'

import type { ResultOf } from '../../api/graphql'
import { useRead } from '../../api/useRead'
import { useOwner } from '../../app/owner'
import { useFilters } from '../../app/useFilters'
import { useBaseName } from '../../ui/baseName'
import { FaultNotice } from '../../ui/FaultNotice'
import { named } from '../../ui/invisible'
import { shownTime } from '../../ui/When'
import { CHOICES } from './documents'
import { ACTOR_KINDS, type FilterName, FILTERS } from './filters'
import { operationKey, OPERATIONS } from './operations'

type Choices = ResultOf<typeof CHOICES>
type Option = { value: string; label: string }

export function AuditFilters() {
  const { t } = useTranslation(['audit', 'ui'])
  const owner = useOwner()
  const read = useRead(CHOICES, { owner: owner.id })
  const filters = useFilters(FILTERS)
  return (
    <>
      <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }} spacing="sm">
        <Several name="kb" label={t('filter.kb')} options={useBases(read.data)} />
        <Several name="op" label={t('filter.op')} options={useOperations()} />
        <Several
          name="kind"
          label={t('filter.kind')}
          options={ACTOR_KINDS.map((kind) => ({ value: kind, label: t(`ui:actor.${kind}`) }))}
        />
        <Several name="actor" label={t('filter.actor')} options={actors(read.data)} />
        <RunFilter options={useRuns(read.data)} />
        <Day name="from" label={t('filter.from')} />
        <Day name="to" label={t('filter.to')} />
      </SimpleGrid>
      {filters.any && (
        <Group gap="xs">
          <Narrowed name="target" label={t('filter.target')} />
          <Narrowed name="tx" label={t('filter.tx')} />
          <Button size="xs" variant="default" onClick={filters.clear}>
            {t('ui:clear')}
          </Button>
        </Group>
      )}
      {read.fault && <FaultNotice fault={read.fault} retry={read.reload} />}
    </>
  )
}

function Several({ name, label, options }: { name: FilterName; label: string; options: Option[] }) {
  const filters = useFilters(FILTERS)
  return (
    <MultiSelect
      label={label}
      data={withGiven(options, filters.all(name))}
      value={filters.all(name)}
      onChange={(values) => filters.set({ [name]: values })}
      searchable
      clearable
      hidePickedOptions
    />
  )
}

function RunFilter({ options }: { options: Option[] }) {
  const { t } = useTranslation('audit')
  const filters = useFilters(FILTERS)
  const run = filters.get('run')
  const known = run === '' || options.some(({ value }) => value === run)
  return (
    <Select
      label={t('filter.run')}
      data={known ? options : [...options, { value: run, label: t('filter.olderRun') }]}
      value={run === '' ? null : run}
      onChange={(value) => filters.set({ run: value })}
      searchable
      clearable
    />
  )
}

function Day({ name, label }: { name: 'from' | 'to'; label: string }) {
  const filters = useFilters(FILTERS)
  return (
    <TextInput
      type="date"
      label={label}
      value={filters.get(name)}
      onChange={(event) => filters.set({ [name]: event.currentTarget.value })}
    />
  )
}

/** What only links set: it is told, and can be taken away. */
function Narrowed({ name, label }: { name: 'target' | 'tx'; label: string }) {
  const { t } = useTranslation('audit')
  const filters = useFilters(FILTERS)
  if (filters.get(name) === '') return null
  return (
    <Pill
      size="md"
      withRemoveButton
      removeButtonProps={{
        'aria-label': t('filter.remove', { what: label }),
        'aria-hidden': false,
        tabIndex: 0,
      }}
      onRemove={() => filters.set({ [name]: null })}
    >
      {label}
    </Pill>
  )
}

/** A value from the address that is no option stays visible, and can be taken away. */
function withGiven(options: Option[], given: string[]): Option[] {
  const known = new Set(options.map(({ value }) => value))
  return [...options, ...given.filter((value) => !known.has(value)).map((value) => ({ value, label: '…' }))]
}

function useBases(data: Choices | undefined): Option[] {
  const baseName = useBaseName()
  return (data?.knowledgeBases.edges ?? []).map(({ node }) => ({ value: node.id, label: baseName(node) }))
}

function useOperations(): Option[] {
  const { t } = useTranslation('audit')
  return OPERATIONS.flatMap((value) => {
    const key = operationKey(value)
    return key === undefined ? [] : [{ value, label: t(`operation.${key}`) }]
  })
}

const actors = (data: Choices | undefined): Option[] =>
  (data?.auditActors ?? []).map(({ id, displayName }) => ({ value: id, label: named(displayName) || id }))

function useRuns(data: Choices | undefined): Option[] {
  const { t, i18n } = useTranslation('audit')
  return (data?.dreamRuns.edges ?? []).map(({ node }) => ({
    value: node.id,
    label: t('filter.runOf', { stage: node.stage, when: shownTime(node.startedAt, i18n.language) }),
  }))
}
