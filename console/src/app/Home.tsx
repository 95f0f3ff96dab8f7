/** Leads to the entries of the first agent: from the start to knowledge without a click. */
import { Stack, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { Navigate } from 'react-router'

import { FaultNotice } from '../ui/FaultNotice'
import { PageTitle } from '../ui/PageTitle'
import { Loading } from '../ui/Remote'
import { tabPath } from './paths'
import { useOwners } from './useOwners'

export function Home() {
  const { t } = useTranslation()
  const owners = useOwners()
  const first = owners.rows?.[0]
  if (first) return <Navigate to={tabPath(first.id, 'entries')} replace />
  if (owners.fault)
    return (
      <Start>
        <FaultNotice fault={owners.fault} retry={owners.reload} />
      </Start>
    )
  return <Start>{owners.rows === undefined ? <Loading /> : <Text>{t('noOwners')}</Text>}</Start>
}

function Start({ children }: { children: ReactNode }) {
  const { t } = useTranslation()
  return (
    <Stack gap="sm">
      <PageTitle parts={[t('knowledge')]} />
      <Title order={1} size="h3">
        {t('knowledge')}
      </Title>
      {children}
    </Stack>
  )
}
