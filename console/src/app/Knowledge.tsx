/** The Knowledge page: one owner, six tabs. What is under it is made anew for each owner (CO-1 to CO-3). */
import { Button, Group, Stack, Tabs, TextInput, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { Link, Outlet, useLocation, useNavigate, useParams } from 'react-router'

import { Loading } from '../ui/Remote'
import { PageTitle } from '../ui/PageTitle'
import { OwnerScope } from './OwnerScope'
import { OWNER_WIDTH, OwnerSelect } from './OwnerSelect'
import { comparePath, isTab, type Tab, tabPath, TABS } from './paths'

export function Knowledge() {
  const { t } = useTranslation()
  const { owner: id = '' } = useParams()
  const tab = useTab()
  const unknown = <TextInput label={t('owner')} w={OWNER_WIDTH} disabled />
  return (
    <OwnerScope
      id={id}
      loading={
        <Frame owner={id} select={unknown}>
          <Loading />
        </Frame>
      }
    >
      {(owner) => (
        <Frame
          owner={owner.id}
          name={owner.name}
          select={<OwnerSelect owner={owner} tab={tab ?? 'entries'} />}
        >
          <Outlet />
        </Frame>
      )}
    </OwnerScope>
  )
}

/** The tab that the address names, if it names one. */
function useTab(): Tab | null {
  const here = useLocation().pathname.split('/')[3]
  return isTab(here) ? here : null
}

/** Head and tabs; they are there before the owner is, and stay where they are. */
function Frame({
  owner,
  name,
  select,
  children,
}: {
  owner: string
  name?: string
  select: ReactNode
  children: ReactNode
}) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const tab = useTab()
  return (
    <Stack gap="sm">
      <PageTitle parts={[t(tab === null ? 'knowledge' : `tabs.${tab}`), name]} />
      <Group justify="space-between" align="end">
        <Title order={1} size="h3">
          {t('knowledge')}
        </Title>
        <Group align="end">
          <Button component={Link} to={comparePath(owner)} variant="default">
            {t('compare')}
          </Button>
          {select}
        </Group>
      </Group>
      <Tabs value={tab} onChange={(to) => isTab(to ?? '') && void navigate(tabPath(owner, to as Tab))}>
        <Tabs.List aria-label={t('tabsLabel')}>
          {TABS.map((one) => (
            <Tabs.Tab key={one} value={one}>
              {t(`tabs.${one}`)}
            </Tabs.Tab>
          ))}
        </Tabs.List>
      </Tabs>
      {children}
    </Stack>
  )
}
