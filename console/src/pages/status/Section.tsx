/** The frame of a section: its place in the address, its heading, what it shows. */
import { Paper, Stack, Table, Title } from '@mantine/core'
import { type ReactNode, useId } from 'react'

import { Sideways } from '../../ui/Sideways'

export function Section({ id, title, children }: { id: string; title: string; children: ReactNode }) {
  const heading = useId()
  return (
    <Paper component="section" withBorder p="md" id={id} aria-labelledby={heading} className="status-section">
      <Stack gap="xs">
        <Title order={3} size="h4" id={heading}>
          {title}
        </Title>
        {children}
      </Stack>
    </Paper>
  )
}

/** A table that can be moved sideways where the page is narrow. */
export function Figures({
  label,
  heads,
  children,
  minWidth = 560,
}: {
  label: string
  heads: readonly string[]
  children: ReactNode
  minWidth?: number
}) {
  return (
    <Sideways label={label} minWidth={minWidth}>
      <Table verticalSpacing={6} aria-label={label}>
        <Table.Thead>
          <Table.Tr>
            {heads.map((head) => (
              <Table.Th key={head}>{head}</Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>{children}</Table.Tbody>
      </Table>
    </Sideways>
  )
}

/** Pairs of a name and a value. */
export function Facts({ facts }: { facts: readonly (readonly [string, ReactNode])[] }) {
  return (
    <Table variant="vertical" layout="fixed" withRowBorders={false} verticalSpacing={4}>
      <Table.Tbody>
        {facts.map(([name, value]) => (
          <Table.Tr key={name}>
            <Table.Th w={190}>{name}</Table.Th>
            <Table.Td>{value}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}
