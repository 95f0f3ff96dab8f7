/** A table that is moved sideways where the page is narrow, by keyboard too (CO-9). */
import { Table } from '@mantine/core'
import type { ReactNode } from 'react'

export function Sideways({
  label,
  minWidth,
  children,
}: {
  label: string
  minWidth: number
  children: ReactNode
}) {
  return (
    <Table.ScrollContainer
      minWidth={minWidth}
      scrollAreaProps={{ viewportProps: { tabIndex: 0, role: 'group', 'aria-label': label } }}
    >
      {children}
    </Table.ScrollContainer>
  )
}
