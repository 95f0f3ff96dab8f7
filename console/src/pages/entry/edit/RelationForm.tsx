/** A new relation: type, object, and the words that say it, from a source or from the user (CO-28). */
import { Autocomplete, Paper, Radio, SimpleGrid, Stack } from '@mantine/core'
import { type SyntheticEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'

import { useApply } from '../../../ui/apply'
import { EntrySelect, type FoundEntry } from '../../../ui/EntrySelect'
import { useTyping } from '../../../ui/KeepTyped'
import { fits } from '../../../ui/limit'
import { LimitedArea } from '../../../ui/LimitedText'
import { SaveBar } from '../../../ui/SaveBar'
import { useDraftCheck } from '../../../ui/useDraftCheck'
import { isWhen } from '../../../ui/validity'
import { WhenInput } from '../../../ui/WhenInput'
import { useOpenEntry } from '../entry'
import { addRelation, type Picked } from './operations'
import { PickedQuotes } from './PickedQuotes'

const USUAL = ['member_of', 'works_for', 'part_of', 'owns', 'located_in', 'affects', 'uses', 'knows']

export function RelationForm({ onDone, onCancel }: { onDone: () => void; onCancel: () => void }) {
  const { t } = useTranslation('entry')
  const { entry } = useOpenEntry()
  const [type, setType] = useState('')
  const [object, setObject] = useState<FoundEntry | null>(null)
  const [from, setFrom] = useState('')
  const [to, setTo] = useState('')
  const [words, setWords] = useState<'source' | 'note'>('source')
  const [quotes, setQuotes] = useState<Picked[]>([])
  const [note, setNote] = useState('')
  const [reason, setReason] = useState('')
  useTyping(type !== '' || object !== null || quotes.length > 0 || note !== '')
  const check = useDraftCheck()
  const apply = useApply()
  const evidence = words === 'source' ? (quotes[0] ?? null) : null
  const said = words === 'source' ? evidence !== null : note.trim() !== '' && fits(note, 'text')
  const save = async (event: SyntheticEvent) => {
    event.preventDefault()
    if (object === null || !(await check.allows({ text: note }))) return
    const operations = [addRelation(entry.id, { type, object: object.id, evidence, note, from, to })]
    if (await apply.run({ kb: entry.knowledgeBase.id, operations, reason: reason.trim() })) onDone()
  }
  return (
    <Paper withBorder p="sm" mb="xs">
      <form onSubmit={(event) => void save(event)} aria-label={t('relation.add')}>
        <Stack gap="sm">
          <SimpleGrid cols={{ base: 1, xs: 2 }}>
            <Autocomplete
              label={t('relation.type')}
              description={t('relation.typeHint')}
              required
              autoFocus
              data={USUAL}
              value={type}
              onChange={setType}
            />
            <EntrySelect
              label={t('relation.object')}
              description={t('relation.objectHint')}
              value={object}
              onChange={setObject}
              fits={(one) => one.id !== entry.id}
            />
            <WhenInput
              label={t('block.from')}
              description={t('block.dateHint')}
              value={from}
              onChange={setFrom}
            />
            <WhenInput label={t('block.to')} description={t('block.dateHint')} value={to} onChange={setTo} />
          </SimpleGrid>
          <Radio.Group label={t('relation.words')} value={words} onChange={(chosen) => setWords(chosen)}>
            <Stack gap={6} mt={4}>
              <Radio value="source" label={t('relation.fromSource')} />
              <Radio value="note" label={t('relation.fromNote')} />
            </Stack>
          </Radio.Group>
          {words === 'source' ? (
            <PickedQuotes quotes={quotes} onChange={setQuotes} most={1} hint={t('relation.quoteHint')} />
          ) : (
            <LimitedArea
              of="text"
              label={t('relation.note')}
              description={t('relation.noteHint')}
              required
              autosize
              value={note}
              onChange={setNote}
            />
          )}
          <SaveBar
            reason={reason}
            onReason={setReason}
            warnings={check.warnings}
            fault={apply.fault}
            busy={apply.busy}
            ready={type.trim() !== '' && object !== null && said && isWhen(from) && isWhen(to)}
            onCancel={onCancel}
          />
        </Stack>
      </form>
    </Paper>
  )
}
