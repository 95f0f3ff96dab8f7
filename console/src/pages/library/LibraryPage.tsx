/** The Agent Library: the Skills of an Agent, and the lessons on them where they are changed (CO-84). */
import { Anchor, Group, Stack, Text, Title } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { Link, useParams } from 'react-router'

import { useRead } from '../../api/useRead'
import { useOwner } from '../../app/owner'
import { OwnerScope } from '../../app/OwnerScope'
import { tabPath } from '../../app/paths'
import { useFilters } from '../../app/useFilters'
import { Remote } from '../../ui/Remote'
import { Told } from '../../ui/Told'
import { LIBRARY } from './queries'
import { SkillCard } from './SkillCard'

export function Component() {
  const { agent = '' } = useParams()
  return <OwnerScope id={agent}>{() => <Library />}</OwnerScope>
}

const FILTERS = ['skill'] as const

function Library() {
  const { t } = useTranslation('library')
  const owner = useOwner()
  const filters = useFilters(FILTERS)
  const read = useRead(LIBRARY, { agent: owner.id })
  const chosen = filters.get('skill')
  return (
    <Stack>
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
      <Remote read={read} pick={(data) => data}>
        {({ skills, skillOverlays }) => {
          const shown = skills.filter((skill) => chosen === '' || skill.slug === chosen)
          if (shown.length === 0) return <Text c="dimmed">{t('none')}</Text>
          return shown.map((skill) => (
            <SkillCard
              key={skill.id}
              skill={skill}
              overlay={skillOverlays.edges.find(({ node }) => node.slug === skill.slug)?.node}
              reload={read.reload}
            />
          ))
        }}
      </Remote>
    </Stack>
  )
}
