/** A list with its number, 20 rows at a time (CO-7). `children` draws the rows, as a table or as cards. */
import { Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'

import type { Pages } from '../api/usePages'
import { NotFound } from '../app/NotFound'
import { FaultNotice } from './FaultNotice'
import { Loading } from './Remote'
import { ShownOf } from './ShownOf'

export function Rows<N>({
  pages,
  empty,
  children,
}: {
  pages: Pages<N>
  /** What is said when there are none; the default says just that. */
  empty?: ReactNode
  children: (rows: readonly N[]) => ReactNode
}) {
  const { t } = useTranslation('ui')
  const { rows, fault } = pages
  if (fault?.code === 'NOT_FOUND') return <NotFound />
  if (rows === undefined) return fault ? <FaultNotice fault={fault} retry={pages.retry} /> : <Loading />
  const notice = fault && <FaultNotice fault={fault} retry={pages.retry} />
  if (rows.length === 0)
    return (
      <>
        {notice}
        <Text c="dimmed">{empty ?? t('empty')}</Text>
      </>
    )
  return (
    <>
      {children(rows)}
      {notice}
      <ShownOf
        shown={rows.length}
        total={pages.totalCount ?? rows.length}
        onMore={pages.hasMore ? pages.more : undefined}
        busy={pages.loadingMore}
      />
    </>
  )
}
