/** Every version that a block ever had, the newest first; none is erased (CO-26). */
import { Accordion, Modal, Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'

import { readFragment } from '../../../api/graphql'
import { usePages } from '../../../api/usePages'
import { Rows } from '../../../ui/Rows'
import { Told } from '../../../ui/Told'
import { When } from '../../../ui/When'
import { WordDiff } from '../../../ui/WordDiff'
import { useFocusBack } from '../../../ui/useFocusBack'
import type { Block, Version } from '../entry'
import { VERSION, VERSIONS } from '../queries'
import { VersionView } from './VersionView'

export function BlockHistory({ block, onClose }: { block: Block; onClose: () => void }) {
  useFocusBack()
  const { t } = useTranslation('entry')
  const { t: ui } = useTranslation('ui')
  const pages = usePages(VERSIONS, { id: block.id, after: null }, (data) =>
    data.node?.__typename === 'Block' ? data.node.versions : null,
  )
  return (
    <Modal
      opened
      onClose={onClose}
      title={t('block.history')}
      size="lg"
      closeButtonProps={{ 'aria-label': ui('close') }}
    >
      <Rows pages={pages}>
        {(rows) => <Versions versions={rows.map((row) => readFragment(VERSION, row))} />}
      </Rows>
    </Modal>
  )
}

function Versions({ versions }: { versions: readonly Version[] }) {
  const { t } = useTranslation('entry')
  const { t: ui } = useTranslation('ui')
  return (
    <Accordion multiple variant="separated" order={3}>
      {versions.map((one, place) => (
        <Accordion.Item key={one.id} value={one.id}>
          <Accordion.Control>
            <Text component="span" fw={600}>
              {t('block.version', { version: one.version })}
            </Text>{' '}
            <Text component="span" size="sm">
              {ui(`actor.${one.modifierKind}`)} <Told>{one.modifier.displayName}</Told> ·{' '}
              <When at={one.recordedAt} />
            </Text>
          </Accordion.Control>
          <Accordion.Panel>
            <VersionView version={one} />
            <Before version={one} before={versions[place + 1]} />
          </Accordion.Panel>
        </Accordion.Item>
      ))}
    </Accordion>
  )
}

function Before({ version, before }: { version: Version; before: Version | undefined }) {
  const { t } = useTranslation('entry')
  if (before === undefined) return null
  return (
    <section aria-label={t('block.changed', { version: before.version })}>
      <Text size="xs" c="dimmed" mt="xs">
        {t('block.changed', { version: before.version })}
      </Text>
      <WordDiff before={before.text} after={version.text} />
    </section>
  )
}
