/** How far the vectors of each kind of text are (CO-66). */
import { Table } from '@mantine/core'
import { useTranslation } from 'react-i18next'

import { When } from '../../ui/When'
import { Figures, Section } from './Section'
import type { Status } from './StatusPage'

const ORDER = ['EPISODE', 'BLOCK', 'MESSAGE']

export function Vectors({ vectors }: { vectors: Status['vectors'] }) {
  const { t } = useTranslation('status')
  const ordered = [...vectors].sort((one, other) => ORDER.indexOf(one.kind) - ORDER.indexOf(other.kind))
  const heads = [
    t('vectors.kind'),
    t('vectors.total'),
    t('vectors.embedded'),
    t('pending'),
    t('vectors.failed'),
    t('oldestPending'),
    t('vectors.model'),
  ]
  return (
    <Section id="vectors" title={t('vectors.title')}>
      <Figures label={t('vectors.title')} heads={heads}>
        {ordered.map((one) => (
          <Table.Tr key={one.kind}>
            <Table.Th scope="row">{t(`vectors.of.${one.kind}`)}</Table.Th>
            <Table.Td>{one.total}</Table.Td>
            <Table.Td>{one.embedded}</Table.Td>
            <Table.Td>{one.pending}</Table.Td>
            <Table.Td>{one.failed}</Table.Td>
            <Table.Td>{one.oldestPendingAt === null ? '–' : <When at={one.oldestPendingAt} />}</Table.Td>
            <Table.Td>{one.model ?? '–'}</Table.Td>
          </Table.Tr>
        ))}
      </Figures>
    </Section>
  )
}
