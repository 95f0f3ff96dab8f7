/** What the resident memo of a knowledge base says, each line with its quotes and its trace (CO-16). */
import { List, Modal, Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'

import type { ResultOf } from '../../api/graphql'
import { useRead } from '../../api/useRead'
import { Citations } from '../../ui/Citations'
import { Mark } from '../../ui/Mark'
import { Remote } from '../../ui/Remote'
import { Told } from '../../ui/Told'
import { TraceLink } from '../../ui/TraceLink'
import { useFocusBack } from '../../ui/useFocusBack'
import { When } from '../../ui/When'
import { MEMO } from './documents'

type Line = Extract<ResultOf<typeof MEMO>['node'], { __typename?: 'ResidentMemo' }>['lines'][number]

export function MemoLines({ id, base, onClose }: { id: string; base: string; onClose: () => void }) {
  useFocusBack()
  const { t } = useTranslation(['status', 'ui'])
  const read = useRead(MEMO, { id })
  return (
    <Modal
      opened
      onClose={onClose}
      size="lg"
      title={t('memos.titleOf', { base })}
      closeButtonProps={{ 'aria-label': t('ui:close') }}
    >
      <Remote read={read} pick={({ node }) => (node?.__typename === 'ResidentMemo' ? node.lines : null)}>
        {(lines) =>
          lines.length === 0 ? (
            <Text c="dimmed">{t('memos.empty')}</Text>
          ) : (
            <List spacing="sm" aria-label={t('memos.lines')}>
              {lines.map((line) => (
                <List.Item key={line.id}>
                  <OneLine of={line} />
                </List.Item>
              ))}
            </List>
          )
        }
      </Remote>
    </Modal>
  )
}

function OneLine({ of }: { of: Line }) {
  const { t } = useTranslation('ui')
  return (
    <>
      <Told>{of.text}</Told> <TraceLink node={of.id} what={of.text.slice(0, 60)} />
      {of.stale && <Mark sign="⌛">{t('stale')}</Mark>}
      <Text size="xs" c="dimmed" component="div">
        {t(`actor.${of.modifierKind}`)} <Told>{of.modifier.displayName}</Told> · <When at={of.recordedAt} />
      </Text>
      {of.citations.length > 0 && <Citations of={of.citations} />}
    </>
  )
}
