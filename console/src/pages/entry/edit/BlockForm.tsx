/** Writes a block anew or adds one: text, why it changes, when it holds, quotes, reason (CO-20, CO-24, CO-29). */
import { MultiSelect, Radio, SimpleGrid, Stack, Text } from '@mantine/core'
import { type SyntheticEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'

import { currentOf, useApply } from '../../../ui/apply'
import { Conflict } from '../../../ui/Conflict'
import { named } from '../../../ui/invisible'
import { useTyping } from '../../../ui/KeepTyped'
import { fits } from '../../../ui/limit'
import { LimitedArea } from '../../../ui/LimitedText'
import { SaveBar } from '../../../ui/SaveBar'
import { useDraftCheck } from '../../../ui/useDraftCheck'
import { isWhen } from '../../../ui/validity'
import { WhenInput } from '../../../ui/WhenInput'
import { type Block, blocksOf, type Entry, useOpenEntry, type Version } from '../entry'
import {
  addBlock,
  type BlockChange,
  type BlockDraft,
  changesOf,
  draftOf,
  editBlock,
  EMPTY_BLOCK,
  newChanges,
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
    const operations = [
      block ? edited(block, base, draft) : addBlock(entry.id, draft, condensed(entry, draft)),
    ]
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
        <LimitedArea
          of="text"
          label={t('block.text')}
          required
          autoFocus
          autosize
          minRows={2}
          value={draft.text}
          onChange={(text) => put({ text })}
        />
        {!block && (
          <Supersedes
            value={draft.supersedes}
            onChange={(supersedes) => put({ supersedes, ...changeFor(supersedes, draft.change) })}
          />
        )}
        <Changes
          choices={block ? changesOf(block.current.standing) : newChanges(draft.supersedes)}
          value={draft.change}
          onChange={(change) => put({ change })}
        />
        <SimpleGrid cols={{ base: 1, xs: 2 }}>
          <WhenInput
            label={t('block.from')}
            description={t('block.dateHint')}
            required={block !== undefined && draft.change === 'evolution'}
            value={draft.from}
            onChange={(from) => put({ from })}
          />
          <WhenInput
            label={t('block.to')}
            description={t('block.dateHint')}
            value={draft.to}
            onChange={(to) => put({ to })}
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
          ready={isComplete(draft) && current === null}
          onCancel={onDone}
        />
      </Stack>
    </form>
  )
}

const isComplete = ({ text, from, to }: BlockDraft): boolean =>
  text.trim() !== '' && fits(text, 'text') && isWhen(from) && isWhen(to)

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

/** Which blocks of the entry a new one takes the place of: what held then stays in their history. */
function Supersedes({
  value,
  onChange,
}: {
  value: readonly string[]
  onChange: (blocks: readonly string[]) => void
}) {
  const { t } = useTranslation('entry')
  const { t: ui } = useTranslation('ui')
  const blocks = blocksOf(useOpenEntry().entry)
  if (blocks.length === 0) return null
  return (
    <MultiSelect
      label={t('block.supersedes')}
      description={t('block.supersedesHint')}
      searchable
      clearable
      hidePickedOptions
      data={blocks.map(({ id, current }) => ({ value: id, label: named(current.text.slice(0, 80)) }))}
      value={[...value]}
      onChange={onChange}
      clearButtonProps={{ 'aria-label': ui('clearOne') }}
    />
  )
}

/** Keeps what was chosen, where it still can be. */
function changeFor(supersedes: readonly string[], change: BlockChange): { change?: BlockChange } {
  const [first, ...others] = newChanges(supersedes)
  return first === undefined || [first, ...others].includes(change) ? {} : { change: first }
}

const condensed = (entry: Entry, { supersedes }: BlockDraft): Picked[] =>
  blocksOf(entry).flatMap(({ id, current }) => (supersedes.includes(id) ? picked(current) : []))

function edited(block: Block, base: { version: number; of: Version | undefined }, draft: BlockDraft) {
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
