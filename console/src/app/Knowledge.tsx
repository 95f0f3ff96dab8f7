/** The Knowledge page: one owner, six tabs. What is under it is made anew for each owner (CO-1 to CO-3). */
import { Button, Group, Stack, Tabs, Title } from '@mantine/core'
import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { Link, Outlet, useLocation, useNavigate, useParams } from 'react-router'

import { graphql, type ResultOf } from '../api/graphql'
import { useRead } from '../api/useRead'
import { Remote } from '../ui/Remote'
import { type Owner, OwnerContext } from './owner'
import { OwnerSelect } from './OwnerSelect'
import { comparePath, isTab, type Tab, tabPath, TABS } from './paths'

const OWNER = graphql(`
  query Owner($id: ID!) {
    node(id: $id) {
      id
      ... on Principal {
        kind
        displayName
        viewerRights
      }
    }
    workspace {
      viewerRights
    }
    viewer {
      id
      displayName
    }
  }
`)

export function Knowledge() {
  const { owner: id = '' } = useParams()
  const read = useRead(OWNER, { id })
  return (
    <Remote read={read} pick={ownerIn}>
      {(owner) => <OfOwner key={owner.id} owner={owner} />}
    </Remote>
  )
}

function ownerIn(data: ResultOf<typeof OWNER>): Owner | null {
  const { node, workspace, viewer } = data
  if (node?.__typename !== 'Principal' || node.kind !== 'AGENT') return null
  return {
    id: node.id,
    name: node.displayName,
    rights: new Set(node.viewerRights),
    everywhere: new Set(workspace.viewerRights),
    viewer: { id: viewer.id, name: viewer.displayName },
  }
}

function OfOwner({ owner }: { owner: Owner }) {
  const { t } = useTranslation()
  const { pathname } = useLocation()
  const navigate = useNavigate()
  const here = pathname.split('/')[3]
  const tab: Tab = isTab(here) ? here : 'entries'
  const kept = useMemo(() => owner, [owner])
  return (
    <OwnerContext value={kept}>
      <Stack gap="sm">
        <Group justify="space-between" align="end">
          <Title order={1} size="h3">
            {t('knowledge')}
          </Title>
          <Group align="end">
            <Button component={Link} to={comparePath(owner.id)} variant="default">
              {t('compare')}
            </Button>
            <OwnerSelect owner={owner} tab={tab} />
          </Group>
        </Group>
        <Tabs
          value={isTab(here) ? tab : null}
          onChange={(to) => isTab(to ?? '') && void navigate(tabPath(owner.id, to as Tab))}
        >
          <Tabs.List aria-label={t('tabsLabel')}>
            {TABS.map((one) => (
              <Tabs.Tab key={one} value={one}>
                {t(`tabs.${one}`)}
              </Tabs.Tab>
            ))}
          </Tabs.List>
        </Tabs>
        <Outlet />
      </Stack>
    </OwnerContext>
  )
}
