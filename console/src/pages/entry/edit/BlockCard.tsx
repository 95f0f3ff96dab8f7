/** One block: what it says now, and what can be done with it (CO-16, CO-25, CO-26). */
import { Button, Group, Paper } from '@mantine/core'
import { useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'

import { ReasonModal } from '../../../ui/ReasonModal'
import { Told } from '../../../ui/Told'
import { TraceLink } from '../../../ui/TraceLink'
import { type Operation, useApply } from '../../../ui/apply'
import { FaultNotice } from '../../../ui/FaultNotice'
import { type Block, blocksOf, useOpenEntry } from '../entry'
import { BlockForm } from './BlockForm'
import { BlockHistory } from './BlockHistory'
import { moveBlock } from './moving'
import { deleteBlock } from './operations'
import { VersionView } from './VersionView'

export function BlockCard({ block, place }: { block: Block; place: number }) {
  const { t } = useTranslation('entry')
  const { mayEdit } = useOpenEntry()
  const [doing, setDoing] = useState<'edit' | 'history' | 'delete'>()
  const card = useRef<HTMLElement>(null)
  const done = () => {
    setDoing(undefined)
    // What had the focus is gone: who works by keyboard goes on where he was (CO-9).
    card.current?.focus()
  }
  const { text, version } = block.current
  return (
    <Paper
      ref={card}
      tabIndex={-1}
      withBorder
      p="sm"
      component="article"
      aria-label={t('block.label', { start: text.slice(0, 60) })}
    >
      {doing === 'edit' ? <BlockForm block={block} onDone={done} /> : <VersionView version={block.current} />}
      {doing !== 'edit' && (
        <Group gap="md" mt="xs">
          <TraceLink node={block.current.id} what={text.slice(0, 60)} />
          {version > 1 && (
            <Button variant="subtle" size="compact-sm" onClick={() => setDoing('history')}>
              {t('block.versions', { count: version })}
            </Button>
          )}
          {mayEdit && (
            <>
              <Button variant="subtle" size="compact-sm" onClick={() => setDoing('edit')}>
                {t('block.edit')}
              </Button>
              <Button variant="subtle" size="compact-sm" onClick={() => setDoing('delete')}>
                {t('block.delete')}
              </Button>
              <Moving place={place} onDone={done} />
            </>
          )}
        </Group>
      )}
      {doing === 'history' && <BlockHistory block={block} onClose={done} />}
      {doing === 'delete' && <DeleteBlock block={block} onClose={done} />}
    </Paper>
  )
}

/** One place up or down; where the block cannot go, the button stays and does nothing, so that no other takes its place. */
function Moving({ place, onDone }: { place: number; onDone: () => void }) {
  const { t } = useTranslation('entry')
  const { entry, reload } = useOpenEntry()
  const apply = useApply()
  const blocks = blocksOf(entry)
  const move = async (operation: Operation) => {
    const reason = t('block.moved')
    if (await apply.run({ kb: entry.knowledgeBase.id, operations: [operation], reason })) onDone()
    reload()
  }
  return (
    <>
      {DIRECTIONS.map(([name, by]) => {
        const operation = moveBlock(blocks, place, by)
        return (
          <Button
            key={name}
            variant="subtle"
            size="compact-sm"
            disabled={operation === null}
            loading={apply.busy}
            onClick={() => operation && void move(operation)}
          >
            {t(`block.${name}`)}
          </Button>
        )
      })}
      {apply.fault && <FaultNotice fault={apply.fault} />}
    </>
  )
}

const DIRECTIONS = [
  ['up', -1],
  ['down', 1],
] as const

function DeleteBlock({ block, onClose }: { block: Block; onClose: () => void }) {
  const { t } = useTranslation('entry')
  const { entry, reload } = useOpenEntry()
  const apply = useApply()
  const confirm = async (reason: string) => {
    const operations = [deleteBlock(block.id, block.current.version)]
    if (await apply.run({ kb: entry.knowledgeBase.id, operations, reason })) onClose()
    // Of a refusal too: who tries again takes away what he then sees (CO-29).
    reload()
  }
  return (
    <ReasonModal
      title={t('block.deleteTitle')}
      action={t('block.delete')}
      write={apply}
      onClose={onClose}
      onConfirm={(reason) => void confirm(reason)}
    >
      <Told>{block.current.text}</Told>
    </ReasonModal>
  )
}
