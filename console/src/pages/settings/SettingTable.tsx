/** The settings of one group. */
import { Badge, Button, Code, Paper, Table, Text, Title } from '@mantine/core'
import { useTranslation } from 'react-i18next'

import { Sideways } from '../../ui/Sideways'
import { Told } from '../../ui/Told'
import { en } from './texts'
import { useRange } from './useRange'
import type { Group, Setting } from './values'

export function SettingTable({
  group,
  ofAgent,
  onEdit,
}: {
  group: Group
  ofAgent: boolean
  onEdit?: (name: string) => void
}) {
  const { t } = useTranslation('settings')
  return (
    <Paper withBorder p="md">
      <Title order={2} size="h4">
        {isGroup(group.name) ? t(`group.${group.name}`) : group.name}
      </Title>
      <Sideways label={group.name} minWidth={760}>
        <Table layout="fixed" verticalSpacing={6} aria-label={group.name}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th w="26%">{t('column.name')}</Table.Th>
              <Table.Th w="22%">{t('column.value')}</Table.Th>
              <Table.Th w="14%">{t('column.default')}</Table.Th>
              <Table.Th w="12%">{t('column.unit')}</Table.Th>
              <Table.Th>{t('column.range')}</Table.Th>
              {onEdit && <Table.Th w={110}>{t('column.change')}</Table.Th>}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {group.settings.map((setting) => (
              <Row key={setting.name} setting={setting} ofAgent={ofAgent} {...(onEdit ? { onEdit } : {})} />
            ))}
          </Table.Tbody>
        </Table>
      </Sideways>
    </Paper>
  )
}

function Row({
  setting,
  ofAgent,
  onEdit,
}: {
  setting: Setting
  ofAgent: boolean
  onEdit?: (name: string) => void
}) {
  const { t } = useTranslation('settings')
  const { name, unit, origin } = setting
  return (
    <Table.Tr>
      <Table.Th scope="row">
        <Text size="sm" className="text">
          {name}
        </Text>
      </Table.Th>
      <Table.Td>
        <Value of={setting.value} />
        {isOrigin(origin) && origin !== 'default' && (
          <Badge variant="default" size="sm" ms={6}>
            {t(`origin.${origin}`)}
          </Badge>
        )}
      </Table.Td>
      <Table.Td>
        <Value of={setting.default} />
      </Table.Td>
      <Table.Td>{isUnit(unit) ? t(`unit.${unit}`) : unit || '–'}</Table.Td>
      <Table.Td>{useRange()(setting)}</Table.Td>
      {onEdit && (
        <Table.Td>
          {ofAgent && !setting.perAgent ? (
            <Text size="xs" c="dimmed">
              {t('sameForAll')}
            </Text>
          ) : (
            <Button
              size="xs"
              variant="default"
              aria-label={t('changeOf', { name })}
              onClick={() => onEdit(name)}
            >
              {t('change')}
            </Button>
          )}
        </Table.Td>
      )}
    </Table.Tr>
  )
}

export function Value({ of }: { of: unknown }) {
  const { t } = useTranslation('settings')
  if (of === null || of === undefined) return <>{t('unset')}</>
  if (typeof of === 'boolean') return <>{of ? t('on') : t('off')}</>
  if (Array.isArray(of))
    return (
      <details>
        <summary>{t('texts', { count: of.length })}</summary>
        <Code block>{of.join('\n')}</Code>
      </details>
    )
  return <Told>{`${of as string | number}`}</Told>
}

const isGroup = (name: string): name is keyof typeof en.group => name in en.group
const isUnit = (unit: string): unit is keyof typeof en.unit => unit in en.unit
const isOrigin = (origin: string): origin is keyof typeof en.origin => origin in en.origin
