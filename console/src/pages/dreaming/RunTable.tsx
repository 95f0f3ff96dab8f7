/** Earlier runs with their state and error (CO-47). */
import { Button, Code, Table, Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'

import type { Pages } from '../../api/usePages'
import { Rows } from '../../ui/Rows'
import { Told } from '../../ui/Told'
import { When } from '../../ui/When'
import type { Run } from './queries'

export function RunTable({ runs, onShow }: { runs: Pages<Run>; onShow: (id: string) => void }) {
  const { t } = useTranslation('dreaming')
  return (
    <Rows pages={runs} empty={t('noRuns')}>
      {(rows) => (
        <Table.ScrollContainer minWidth={560}>
          <Table aria-label={t('runs')}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{t('began')}</Table.Th>
                <Table.Th>{t('stage')}</Table.Th>
                <Table.Th>{t('trigger')}</Table.Th>
                <Table.Th>{t('state')}</Table.Th>
                <Table.Th>{t('operations')}</Table.Th>
                <Table.Th>{t('result')}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {rows.map((run) => (
                <Row key={run.id} run={run} onShow={onShow} />
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
    </Rows>
  )
}

function Row({ run, onShow }: { run: Run; onShow: (id: string) => void }) {
  const { t } = useTranslation('dreaming')
  return (
    <Table.Tr>
      <Table.Td>
        <When at={run.startedAt} />
      </Table.Td>
      <Table.Td>{t(`stages.${run.stage}`)}</Table.Td>
      <Table.Td>{t(`triggers.${run.trigger}`)}</Table.Td>
      <Table.Td>
        {t(`states.${run.state}`)}
        {run.error !== null && (
          <Text size="xs">
            <Code>
              <Told>{run.error}</Told>
            </Code>
          </Text>
        )}
      </Table.Td>
      <Table.Td>{run.operations}</Table.Td>
      <Table.Td>
        <Button size="compact-xs" variant="default" onClick={() => onShow(run.id)}>
          {t('show')}
        </Button>
      </Table.Td>
    </Table.Tr>
  )
}
