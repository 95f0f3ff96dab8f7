/** Every setting of knowledge with its value, default, unit and range; only an admin changes one (CO-76). */
import { Group, Select, Stack, Text, TextInput, Title } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'

import { readFragment } from '../../api/graphql'
import { useRead } from '../../api/useRead'
import { useFilters } from '../../app/useFilters'
import { useOwners } from '../../app/useOwners'
import { named } from '../../ui/invisible'
import { PageTitle } from '../../ui/PageTitle'
import { Remote } from '../../ui/Remote'
import { AGENT_SETTINGS, SETTING, SETTINGS } from './documents'
import { SettingModal } from './SettingModal'
import { SettingTable } from './SettingTable'
import { groups, type Setting } from './values'

const NAMES = ['agent', 'q', 'edit'] as const

export function Component() {
  const { t } = useTranslation('settings')
  const filters = useFilters(NAMES)
  const agent = filters.get('agent')
  return (
    <Stack>
      <PageTitle parts={[t('title')]} />
      <Title order={1} size="h2">
        {t('title')}
      </Title>
      <Group align="end">
        <Scope agent={agent} onChange={(value) => filters.set({ agent: value, edit: null })} />
        <TextInput
          label={t('search')}
          value={filters.get('q')}
          onChange={(event) => filters.set({ q: event.currentTarget.value })}
        />
      </Group>
      <Text size="sm" c="dimmed">
        {agent === '' ? t('ofWorkspace') : t('ofAgent')}
      </Text>
      {agent === '' ? <OfWorkspace /> : <OfAgent key={agent} agent={agent} />}
    </Stack>
  )
}

function Scope({ agent, onChange }: { agent: string; onChange: (value: string | null) => void }) {
  const { t } = useTranslation('settings')
  const owners = useOwners().rows ?? []
  return (
    <Select
      label={t('scope')}
      placeholder={t('workspace')}
      data={owners.map(({ id, displayName }) => ({ value: id, label: named(displayName) }))}
      value={agent === '' ? null : agent}
      onChange={onChange}
      clearable
      searchable
    />
  )
}

function OfWorkspace() {
  const read = useRead(SETTINGS, {})
  return (
    <Remote read={read} pick={(data) => data}>
      {(data) => (
        <Listed
          settings={data.settings.map((one) => readFragment(SETTING, one))}
          changes={data.workspace.viewerRights.includes('ADMIN')}
          agent={null}
          reload={read.reload}
        />
      )}
    </Remote>
  )
}

function OfAgent({ agent }: { agent: string }) {
  const read = useRead(AGENT_SETTINGS, { agent })
  return (
    <Remote read={read} pick={(data) => data}>
      {(data) => (
        <Listed
          settings={data.agentSettings.map((one) => readFragment(SETTING, one))}
          changes={data.workspace.viewerRights.includes('ADMIN')}
          agent={agent}
          reload={read.reload}
        />
      )}
    </Remote>
  )
}

function Listed({
  settings,
  changes,
  agent,
  reload,
}: {
  settings: readonly Setting[]
  changes: boolean
  agent: string | null
  reload: () => void
}) {
  const { t } = useTranslation('settings')
  const filters = useFilters(NAMES)
  const [saved, setSaved] = useState('')
  const edited = settings.find(({ name }) => name === filters.get('edit'))
  const shown = groups(settings, filters.get('q'))
  return (
    <>
      {!changes && <Text size="sm">{t('readOnly')}</Text>}
      <Text size="sm" role="status">
        {saved !== '' && t('saved', { name: saved })}
      </Text>
      {shown.length === 0 && <Text c="dimmed">{t('none')}</Text>}
      {shown.map((group) => (
        <SettingTable
          key={group.name}
          group={group}
          ofAgent={agent !== null}
          {...(changes ? { onEdit: (name: string) => filters.set({ edit: name }) } : {})}
        />
      ))}
      {changes && edited && (
        <SettingModal
          key={edited.name}
          setting={edited}
          agent={agent}
          reload={reload}
          onClose={() => filters.set({ edit: null })}
          onSaved={() => {
            setSaved(edited.name)
            filters.set({ edit: null })
            reload()
          }}
        />
      )}
    </>
  )
}
