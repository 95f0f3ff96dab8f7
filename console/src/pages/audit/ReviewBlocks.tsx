/** A prepared view of current blocks that a reviewer should look at (CO-62). */
import { Anchor, Badge, Button, Group, Stack, Table, Text, Title } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router'

import type { ResultOf } from '../../api/graphql'
import { usePages } from '../../api/usePages'
import { useOwner } from '../../app/owner'
import { entryPath } from '../../app/paths'
import { Rows } from '../../ui/Rows'
import { Sideways } from '../../ui/Sideways'
import { Told } from '../../ui/Told'
import { TraceLink } from '../../ui/TraceLink'
import { shownDate } from '../../ui/validity'
import { When } from '../../ui/When'
import { REVIEW } from './documents'

const VIEWS = ['OUT_OF_FORCE', 'CONTESTED', 'NOTE_ONLY'] as const
type View = (typeof VIEWS)[number]
type Item = ResultOf<typeof REVIEW>['review']['edges'][number]['node']

export const isReview = (found: string): found is View => VIEWS.some((view) => view === found)

export function ReviewBlocks({ view, onClose }: { view: View; onClose: () => void }) {
  const { t } = useTranslation('audit')
  const owner = useOwner()
  const pages = usePages(REVIEW, { owner: owner.id, view }, (data) => data.review)
  return (
    <Stack gap="xs">
      <Group justify="space-between">
        <Title order={3} size="h4">
          {t(`review.${view}`)}
        </Title>
        <Button variant="default" size="xs" onClick={onClose}>
          {t('review.back')}
        </Button>
      </Group>
      <Rows pages={pages} empty={t('review.none')}>
        {(rows) => <Blocks rows={rows} />}
      </Rows>
    </Stack>
  )
}

function Blocks({ rows }: { rows: readonly Item[] }) {
  const { t } = useTranslation('audit')
  return (
    <Sideways label={t('review.title')} minWidth={640}>
      <Table verticalSpacing="xs">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('review.entry')}</Table.Th>
            <Table.Th>{t('review.block')}</Table.Th>
            <Table.Th>{t('review.author')}</Table.Th>
            <Table.Th>{t('review.trace')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((item) => (
            <Row key={item.block.id} item={item} />
          ))}
        </Table.Tbody>
      </Table>
    </Sideways>
  )
}

function Row({ item: { entry, block } }: { item: Item }) {
  const { t } = useTranslation(['audit', 'ui'])
  const owner = useOwner()
  return (
    <Table.Tr>
      <Table.Td>
        <Anchor component={Link} to={entryPath(owner.id, entry.id)} size="sm">
          <Told>{entry.name}</Told>
        </Anchor>
      </Table.Td>
      <Table.Td>
        <Told>{block.text}</Told>
        <Group gap="xs">
          <Badge variant="default" size="sm">
            {t(`ui:basis.${block.basis}`)}
          </Badge>
          {block.standing === 'DISPUTED' && (
            <Badge color="orange" variant="light" size="sm">
              {t('ui:standing.DISPUTED')}
            </Badge>
          )}
          {block.stale && (
            <Badge color="orange" variant="light" size="sm">
              {t('ui:stale')}
            </Badge>
          )}
          {block.validTo !== null && (
            <Text size="xs">{t('ui:valid.until', { to: shownDate(block.validTo, block.toPrecision) })}</Text>
          )}
        </Group>
      </Table.Td>
      <Table.Td>
        <Told>{block.modifier.displayName}</Told>
        <Text size="xs" c="dimmed">
          {t(`ui:actor.${block.modifierKind}`)} · <When at={block.recordedAt} dateOnly />
        </Text>
      </Table.Td>
      <Table.Td>
        <TraceLink node={block.id} what={entry.name} />
      </Table.Td>
    </Table.Tr>
  )
}
