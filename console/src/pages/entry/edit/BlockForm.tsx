/** Writes a block anew or adds one: text, why it changes, when it holds, quotes, reason (CO-20, CO-24, CO-29). */
import { Radio, SimpleGrid, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { type SyntheticEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'

import { currentOf, useApply } from '../../../ui/apply'
import { Conflict } from '../../../ui/Conflict'
import { useTyping } from '../../../ui/KeepTyped'
import { SaveBar } from '../../../ui/SaveBar'
import { useDraftCheck } from '../../../ui/useDraftCheck'
import { type Block, useOpenEntry, type Version } from '../entry'
import {
  addBlock,
  type BlockChange,
  type BlockDraft,
  changesOf,
  draftOf,
  editBlock,
  EMPTY_BLOCK,
  NEW_BLOCK_CHANGES,
  type Picked,
} from './operations'
import { PickedQuotes } from './PickedQuotes'

export function BlockForm({ block, onDone }: { block?: Block; onDone: () => void }) {
  const { t } = useTranslation('entry')
  const { entry, reload } = useOpenEntry()
  const [initial] = useState<BlockDraft>(block ? draftOf(block.current) : EMPTY_BLOCK)
  const [draft, setDraft] = useState(initial)
  useTyping(draft !== initial)
  // What was there when the form was opened, whatever is read again beneath it: nothing unseen is overwritten.
  const [base, setBase] = useState({ version: block?.current.version ?? 0, of: block?.current })
  const [reason, setReason] = useState('')
  const check = useDraftCheck()
  const apply = useApply()
  const put = (change: Partial<BlockDraft>) => setDraft((before) => ({ ...before, ...change }))
  const current = currentOf(apply.fault)
  const save = async (event: SyntheticEvent) => {
    event.preventDefault()
    if (!(await check.allows({ text: draft.text }))) return
    const operations = [operationOf(entry.id, block, base, draft)]
    const done = await apply.run({ kb: entry.knowledgeBase.id, operations, reason: reason.trim() })
    if (done === null) return
    onDone()
    reload()
  }
  const seen = (change: Partial<BlockDraft>) => {
    if (current === null) return
    put(change)
    setBase({ version: current.version, of: undefined })
    apply.forget()
    reload()
  }
  return (
    <form
      onSubmit={(event) => void save(event)}
      aria-label={block ? t('block.editTitle') : t('block.addTitle')}
    >
      <Stack gap="sm">
        <Textarea
          label={t('block.text')}
          required
          autoFocus
          autosize
          minRows={2}
          maxLength={2000}
          value={draft.text}
          onChange={(event) => put({ text: event.currentTarget.value })}
        />
        <Changes
          choices={block ? changesOf(block.current.standing) : NEW_BLOCK_CHANGES}
          value={draft.change}
          onChange={(change) => put({ change })}
        />
        <SimpleGrid cols={{ base: 1, xs: 2 }}>
          <TextInput
            label={t('block.from')}
            description={t('block.dateHint')}
            required={draft.change === 'evolution'}
            value={draft.from}
            onChange={(event) => put({ from: event.currentTarget.value })}
          />
          <TextInput
            label={t('block.to')}
            description={t('block.dateHint')}
            value={draft.to}
            onChange={(event) => put({ to: event.currentTarget.value })}
          />
        </SimpleGrid>
        <PickedQuotes
          quotes={draft.citations}
          roles
          onChange={(citations) => put({ citations })}
          hint={t('block.quotesHint')}
        />
        {current && (
          <Conflict
            mine={draft.text}
            theirs={current.text}
            version={current.version}
            onTakeTheirs={() => seen({ text: current.text })}
            onKeepMine={() => seen({})}
          />
        )}
        <SaveBar
          reason={reason}
          onReason={setReason}
          warnings={check.warnings}
          fault={current ? undefined : apply.fault}
          busy={apply.busy}
          ready={draft.text.trim() !== '' && current === null}
          onCancel={onDone}
        />
      </Stack>
    </form>
  )
}

function Changes({
  choices,
  value,
  onChange,
}: {
  choices: readonly BlockChange[]
  value: BlockChange
  onChange: (change: BlockChange) => void
}) {
  const { t } = useTranslation('entry')
  return (
    <Radio.Group label={t('block.change')} value={value} onChange={(chosen) => onChange(chosen)}>
      <Stack gap={6} mt={4}>
        {choices.map((one) => (
          <Radio
            key={one}
            value={one}
            label={
              <Text size="sm" component="span">
                {t(`change.${one}`)}
              </Text>
            }
          />
        ))}
      </Stack>
    </Radio.Group>
  )
}

function operationOf(
  entry: string,
  block: Block | undefined,
  base: { version: number; of: Version | undefined },
  draft: BlockDraft,
) {
  if (!block) return addBlock(entry, draft)
  const old = block.current.version === base.version ? block.current : (base.of ?? block.current)
  return editBlock(block.id, base.version, { standing: old.standing, citations: picked(old) }, draft)
}

const picked = (version: Version): Picked[] =>
  version.citations.map(({ source, quote, role }) => ({
    source: source.id,
    title: source.title ?? source.speakerName,
    quote,
    role,
  }))
