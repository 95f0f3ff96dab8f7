/** What the entry is called and is: name, type, aliases, summary, attributes (CO-20). */
import { Button, Group, Paper, Table, Text, Title } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'

import { Citations } from '../../../ui/Citations'
import { Mark } from '../../../ui/Mark'
import { Told } from '../../../ui/Told'
import { useReturning } from '../../../ui/useReturning'
import { useValidity } from '../../../ui/validity'
import { useOpenEntry } from '../entry'
import { MetadataForm } from './MetadataForm'
import { shownValue } from './operations'

export function Metadata() {
  const { t } = useTranslation('entry')
  const { mayEdit } = useOpenEntry()
  const [editing, setEditing] = useState(false)
  const opener = useReturning(editing)
  return (
    <Paper withBorder p="sm" component="section" aria-labelledby="metadata-title">
      <Group justify="space-between">
        <Title order={3} size="h5" id="metadata-title">
          {t('metadata.title')}
        </Title>
        {mayEdit && !editing && (
          <Button ref={opener} variant="default" size="xs" onClick={() => setEditing(true)}>
            {t('metadata.edit')}
          </Button>
        )}
      </Group>
      {editing ? <MetadataForm onDone={() => setEditing(false)} /> : <Shown />}
    </Paper>
  )
}

function Shown() {
  const { t } = useTranslation('entry')
  const { entry } = useOpenEntry()
  return (
    <>
      {entry.summary === '' ? (
        <Text c="dimmed" size="sm">
          {t('metadata.noSummary')}
        </Text>
      ) : (
        <Told>{entry.summary}</Told>
      )}
      {entry.aliases.length > 0 && (
        <Text size="sm" component="div" mt={4}>
          {t('metadata.aliases')}:{' '}
          {entry.aliases.map((alias, place) => (
            <span key={alias}>
              {place > 0 && ', '}
              <Told>{alias}</Told>
            </span>
          ))}
        </Text>
      )}
      {entry.attributes.length > 0 && <Attributes />}
    </>
  )
}

function Attributes() {
  const { t } = useTranslation('entry')
  const { t: ui } = useTranslation('ui')
  const { entry } = useOpenEntry()
  const validity = useValidity()
  return (
    <Table.ScrollContainer minWidth={420} mt="xs">
      <Table withRowBorders={false} verticalSpacing={4}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('metadata.key')}</Table.Th>
            <Table.Th>{t('metadata.value')}</Table.Th>
            <Table.Th>{t('metadata.restsOn')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {entry.attributes.map((one) => (
            <Table.Tr key={one.id}>
              <Table.Td>{one.key}</Table.Td>
              <Table.Td>
                <Told>{shownValue(one.value)}</Told>{' '}
                {validity(one) !== '' && <Mark sign="◷">{validity(one)}</Mark>}{' '}
                {one.stale && <Mark sign="⌛">{ui('stale')}</Mark>}
              </Table.Td>
              <Table.Td>
                <Citations of={one.citations} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}
