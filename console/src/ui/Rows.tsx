/** A list with its number, 20 rows at a time (CO-7). `children` draws the rows, as a table or as cards. */
import { Button, Group, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'

import type { Pages } from '../api/usePages'
import { NotFound } from '../app/NotFound'
import { FaultNotice } from './FaultNotice'
import { Loading } from './Remote'

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
  if (pages.fault?.code === 'NOT_FOUND') return <NotFound />
  if (pages.fault && pages.rows === undefined) return <FaultNotice fault={pages.fault} retry={pages.reload} />
  if (pages.rows === undefined) return <Loading />
  if (pages.rows.length === 0) return <Text c="dimmed">{empty ?? t('empty')}</Text>
  return (
    <>
      {children(pages.rows)}
      {pages.fault && <FaultNotice fault={pages.fault} retry={pages.more} />}
      <Group mt="sm">
        <Text size="sm" c="dimmed" role="status">
          {t('shownOf', { shown: pages.rows.length, total: pages.totalCount ?? pages.rows.length })}
        </Text>
        {pages.hasMore && (
          <Button variant="default" size="xs" loading={pages.loadingMore} onClick={pages.more}>
            {t('more')}
          </Button>
        )}
      </Group>
    </>
  )
}
