/** Leads to the entries of the first agent: from the start to knowledge without a click. */
import { Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { Navigate } from 'react-router'

import { FaultNotice } from '../ui/FaultNotice'
import { Loading } from '../ui/Remote'
import { tabPath } from './paths'
import { useOwners } from './useOwners'

export function Home() {
  const { t } = useTranslation()
  const owners = useOwners()
  if (owners.fault) return <FaultNotice fault={owners.fault} retry={owners.reload} />
  if (owners.rows === undefined) return <Loading />
  const first = owners.rows[0]
  return first ? <Navigate to={tabPath(first.id, 'entries')} replace /> : <Text>{t('noOwners')}</Text>
}
