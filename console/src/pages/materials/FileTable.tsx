/** The kept files, the last handed in first, each with its learning state (CO-36, CO-39). */
import { Anchor, Table, Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router'

import type { Pages } from '../../api/usePages'
import { useOwner } from '../../app/owner'
import { materialPath } from '../../app/paths'
import { useBaseName } from '../../ui/baseName'
import { Rows } from '../../ui/Rows'
import { Sideways } from '../../ui/Sideways'
import { Told } from '../../ui/Told'
import { When } from '../../ui/When'
import { LearningMark } from './LearningMark'
import type { Material } from './queries'
import { shownSize } from './size'

export function FileTable({ files }: { files: Pages<Material> }) {
  const { t } = useTranslation('materials')
  return (
    <Rows pages={files} empty={t('noFiles')}>
      {(rows) => (
        <Sideways label={t('files')} minWidth={640}>
          <Table verticalSpacing="xs" highlightOnHover aria-label={t('files')}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{t('column.name')}</Table.Th>
                <Table.Th>{t('column.state')}</Table.Th>
                <Table.Th>{t('column.kb')}</Table.Th>
                <Table.Th ta="end">{t('column.size')}</Table.Th>
                <Table.Th>{t('column.by')}</Table.Th>
                <Table.Th>{t('column.at')}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {rows.map((row) => (
                <Row key={row.id} of={row} />
              ))}
            </Table.Tbody>
          </Table>
        </Sideways>
      )}
    </Rows>
  )
}

function Row({ of }: { of: Material }) {
  const { t, i18n } = useTranslation('materials')
  const owner = useOwner()
  const baseName = useBaseName()
  return (
    <Table.Tr>
      <Table.Td maw={360}>
        <Anchor component={Link} to={materialPath(owner.id, of.id)} fw={600}>
          <Told>{of.title ?? t('untitled')}</Told>
        </Anchor>
        {of.version > 1 && (
          <Text size="xs" c="dimmed">
            {t('version', { version: of.version })}
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        <LearningMark of={of} />
      </Table.Td>
      <Table.Td>{of.knowledgeBase && <Told>{baseName(of.knowledgeBase)}</Told>}</Table.Td>
      <Table.Td ta="end">{of.sizeBytes !== null && shownSize(of.sizeBytes, i18n.language)}</Table.Td>
      <Table.Td>{of.submitter && <Told>{of.submitter.displayName}</Told>}</Table.Td>
      <Table.Td>
        <When at={of.submittedAt} />
      </Table.Td>
    </Table.Tr>
  )
}
