/** The states of what is read: loading, not there, failed, there (CO-8). */
import { Loader } from '@mantine/core'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'

import type { Read } from '../api/useRead'
import { NotFound } from '../app/NotFound'
import { FaultNotice } from './FaultNotice'

export function Loading() {
  const { t } = useTranslation('ui')
  return <Loader role="status" aria-label={t('loading')} size="sm" m="md" />
}

/** `children` show what `pick` takes from the answer; null of it is what may not be seen, or is not there (CO-6). */
export function Remote<D, T>({
  read,
  pick,
  loading = <Loading />,
  children,
}: {
  read: Read<D>
  pick: (data: D) => T | null | undefined
  /** What keeps the place until the answer is there. */
  loading?: ReactNode
  children: (found: T) => ReactNode
}) {
  if (read.fault?.code === 'NOT_FOUND') return <NotFound />
  if (read.fault) return <FaultNotice fault={read.fault} retry={read.reload} />
  if (read.data === undefined) return loading
  const found = pick(read.data)
  if (found === null || found === undefined) return <NotFound />
  return (
    <>
      {read.lost && <FaultNotice fault={read.lost} retry={read.reload} />}
      {children(found)}
    </>
  )
}
