/** The Knowledge page: one owner, six tabs. What is under it is made anew for each owner (CO-1 to CO-3). */
import { Button, Group, Stack, Tabs, Title } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { Link, Outlet, useLocation, useNavigate, useParams } from 'react-router'

import type { Owner } from './owner'
import { OwnerScope } from './OwnerScope'
import { OwnerSelect } from './OwnerSelect'
import { comparePath, isTab, type Tab, tabPath, TABS } from './paths'

export function Knowledge() {
  const { owner: id = '' } = useParams()
  return <OwnerScope id={id}>{(owner) => <OfOwner owner={owner} />}</OwnerScope>
}

function OfOwner({ owner }: { owner: Owner }) {
  const { t } = useTranslation()
  const { pathname } = useLocation()
  const navigate = useNavigate()
  const here = pathname.split('/')[3]
  const tab: Tab = isTab(here) ? here : 'entries'
  return (
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
  )
}
