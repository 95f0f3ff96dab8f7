/** The Agent Library: the Skills of an Agent, and the lessons on them where they are changed (CO-84). */
import { Anchor, Group, Stack, Text, Title } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { Link, useParams } from 'react-router'

import { useAllPages, usePages } from '../../api/usePages'
import { useRead } from '../../api/useRead'
import { useOwner } from '../../app/owner'
import { OwnerScope } from '../../app/OwnerScope'
import { tabPath } from '../../app/paths'
import { useFilters } from '../../app/useFilters'
import { FaultNotice } from '../../ui/FaultNotice'
import { PageTitle } from '../../ui/PageTitle'
import { Loading, Remote } from '../../ui/Remote'
import { Told } from '../../ui/Told'
import { OVERLAYS } from '../skills/queries'
import { SKILLS } from './queries'
import { SkillCard } from './SkillCard'

export function Component() {
  const { agent = '' } = useParams()
  return (
    <OwnerScope id={agent} loading={<Unknown />}>
      {() => <Library />}
    </OwnerScope>
  )
}

function Unknown() {
  const { t } = useTranslation('library')
  return (
    <Stack>
      <Title order={1} size="h3">
        {t('title')}
      </Title>
      <Loading />
    </Stack>
  )
}

const FILTERS = ['skill'] as const

function Library() {
  const { t } = useTranslation('library')
  const owner = useOwner()
  const filters = useFilters(FILTERS)
  const read = useRead(SKILLS, {})
  const overlays = useOverlays(owner.id)
  const chosen = filters.get('skill')
  return (
    <Stack>
      <PageTitle parts={[t('title'), owner.name]} />
      <Group justify="space-between">
        <Title order={1} size="h3">
          {t('title')}: <Told>{owner.name}</Told>
        </Title>
        <Anchor component={Link} to={tabPath(owner.id, 'skill-experience')} size="sm">
          {t('toExperience')}
        </Anchor>
      </Group>
      {chosen !== '' && (
        <Text size="sm">
          <Anchor component="button" type="button" onClick={() => filters.set({ skill: null })}>
            {t('showAll')}
          </Anchor>
        </Text>
      )}
      {overlays.fault && <FaultNotice fault={overlays.fault} retry={overlays.reload} />}
      <Remote read={read} pick={(data) => data.skills}>
        {(skills) => {
          const shown = skills.filter((skill) => chosen === '' || skill.slug === chosen)
          if (overlays.rows === undefined) return overlays.fault ? null : <Loading />
          if (shown.length === 0) return <Text c="dimmed">{t('none')}</Text>
          return shown.map((skill) => (
            <SkillCard
              key={skill.id}
              skill={skill}
              overlay={overlays.rows?.find(({ slug }) => slug === skill.slug)}
              reload={overlays.reload}
            />
          ))
        }}
      </Remote>
    </Stack>
  )
}

/** All Overlays of the Agent, page by page: each holds its lessons. */
const useOverlays = (agent: string) =>
  useAllPages(usePages(OVERLAYS, { owner: agent, after: null }, (data) => data.skillOverlays))
