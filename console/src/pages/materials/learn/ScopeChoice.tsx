/** Which memory of the Agent the material goes to; nothing is chosen beforehand (CO-35). */
import { Alert, Radio, Select, Stack, Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'

import type { ResultOf } from '../../../api/graphql'
import { useRead } from '../../../api/useRead'
import { useOwner } from '../../../app/owner'
import { useOwners } from '../../../app/useOwners'
import { useBaseName } from '../../../ui/baseName'
import { named } from '../../../ui/invisible'
import { Remote } from '../../../ui/Remote'
import { Told } from '../../../ui/Told'
import { SCOPES } from '../queries'

export type Place = { agent: string; kb: string }

type Scope = ResultOf<typeof SCOPES>['knowledgeBases']['edges'][number]['node']

export function AgentChoice({ value, onChange }: { value: string; onChange: (agent: string) => void }) {
  const { t } = useTranslation('materials')
  const owner = useOwner()
  const owners = useOwners()
  const others = (owners.rows ?? [])
    .filter((one) => one.id !== owner.id && one.viewerRights.includes('CURATOR'))
    .map((one) => ({ value: one.id, label: named(one.displayName) }))
  return (
    <Select
      label={t('learn.agent')}
      required
      searchable
      allowDeselect={false}
      data={[{ value: owner.id, label: named(owner.name) }, ...others]}
      value={value}
      onChange={(agent) => agent !== null && onChange(agent)}
    />
  )
}

export function ScopeChoice({ place, onChange }: { place: Place; onChange: (kb: string) => void }) {
  const read = useRead(SCOPES, { owner: place.agent })
  return (
    <Remote read={read} pick={(data) => data.knowledgeBases.edges.map(({ node }) => node)}>
      {(bases) => (
        <Scopes scopes={bases.filter((one) => one.writable)} value={place.kb} onChange={onChange} />
      )}
    </Remote>
  )
}

function Scopes({
  scopes,
  value,
  onChange,
}: {
  scopes: readonly Scope[]
  value: string
  onChange: (kb: string) => void
}) {
  const { t } = useTranslation('materials')
  const baseName = useBaseName()
  if (scopes.length === 0) return <Text size="sm">{t('learn.noScope')}</Text>
  const chosen = scopes.find((one) => one.id === value)
  return (
    <>
      <Radio.Group label={t('learn.scope')} required value={value} onChange={onChange}>
        <Stack gap={8} mt={4}>
          {scopes.map((one) => (
            <Radio
              key={one.id}
              value={one.id}
              label={<Told>{baseName(one)}</Told>}
              description={t(`learn.scopes.${one.kind}`)}
            />
          ))}
        </Stack>
      </Radio.Group>
      {chosen?.kind === 'SHARED' && (
        <Alert color="orange" role="alert" title={t('learn.sharedTitle')}>
          {t('learn.sharedText')}
        </Alert>
      )}
    </>
  )
}
