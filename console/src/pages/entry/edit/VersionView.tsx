/** One version of a block with everything that says how far it can be relied on; never a number for it (CO-25, CO-27). */
import { Anchor, Group, List, Stack, Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router'

import { useOwner } from '../../../app/owner'
import { tabPath, tracePath } from '../../../app/paths'
import { Citations } from '../../../ui/Citations'
import { Mark } from '../../../ui/Mark'
import { Told } from '../../../ui/Told'
import { useValidity } from '../../../ui/validity'
import { When } from '../../../ui/When'
import type { Version } from '../entry'

export function VersionView({ version }: { version: Version }) {
  const { t } = useTranslation('entry')
  return (
    <Stack gap={6}>
      <div>
        <Told>{version.text}</Told>
      </div>
      <Marks version={version} />
      <Deduction version={version} />
      {version.basis === 'INDUCED' && (
        <Text size="sm">{t('block.evidences', { count: version.evidenceCount })}</Text>
      )}
      <Written version={version} />
      {version.citations.length > 0 && <Citations of={version.citations} />}
    </Stack>
  )
}

function Marks({ version }: { version: Version }) {
  const { t } = useTranslation('ui')
  const validity = useValidity()(version)
  return (
    <Group gap={6}>
      <Mark>{t(`basis.${version.basis}`)}</Mark>
      <Mark {...(version.standing === 'DISPUTED' ? { sign: '⇄' } : {})}>
        {t(`standing.${version.standing}`)}
      </Mark>
      {version.stale && <Mark sign="⌛">{t('stale')}</Mark>}
      {validity !== '' && <Mark sign="◷">{validity}</Mark>}
      {version.authority !== null && (
        <Text size="xs" component="span">
          <Told>{version.authority}</Told>
        </Text>
      )}
    </Group>
  )
}

/** Who wrote it, when, in which run, and why. */
function Written({ version }: { version: Version }) {
  const { t } = useTranslation('entry')
  const { t: ui } = useTranslation('ui')
  const owner = useOwner()
  return (
    <Text size="xs" c="dimmed" component="div">
      {t('block.version', { version: version.version })} · {ui(`actor.${version.modifierKind}`)}{' '}
      <Told>{version.modifier.displayName}</Told> · <When at={version.recordedAt} />
      {version.dreamRun && (
        <>
          {' · '}
          <Anchor
            component={Link}
            size="xs"
            underline="always"
            to={`${tabPath(owner.id, 'dreaming')}?run=${encodeURIComponent(version.dreamRun.id)}`}
          >
            {t('block.run')} <When at={version.dreamRun.startedAt} />
          </Anchor>
        </>
      )}
      {version.reason !== null && version.reason !== '' && (
        <>
          {' · '}
          {ui('reason')}: <Told>{version.reason}</Told>
        </>
      )}
    </Text>
  )
}

/** A conditional judgement: when it was made, under which condition and on what (DR-58). */
function Deduction({ version }: { version: Version }) {
  const { t } = useTranslation('entry')
  const owner = useOwner()
  if (version.basis !== 'DEDUCED') return null
  return (
    <>
      <Text size="sm" component="div">
        {t('block.condition')}: <Told>{version.condition ?? ''}</Told> · {t('block.inferred')}:{' '}
        <When at={version.inferredAt} dateOnly />
      </Text>
      {version.derivedFrom.length > 0 && (
        <>
          <Text size="sm">{t('block.restsOn')}</Text>
          <List size="sm">
            {version.derivedFrom.map((basis) => (
              <List.Item key={basis.id}>
                <Anchor component={Link} size="sm" to={tracePath(owner.id, basis.id)}>
                  <Told>{nameOf(basis) ?? t('block.basis')}</Told>
                </Anchor>
              </List.Item>
            ))}
          </List>
        </>
      )}
    </>
  )
}

function nameOf(basis: Version['derivedFrom'][number]): string | null {
  if (basis.__typename === 'BlockVersion') return basis.text
  if (basis.__typename !== 'Relation') return null
  return `${basis.subject.name} ${basis.relationType} ${basis.object.name}`
}
