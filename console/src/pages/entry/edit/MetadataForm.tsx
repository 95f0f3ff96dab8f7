/** Changes what the entry is called and is; several changes are saved together or not at all (CO-20, CO-29). */
import {
  ActionIcon,
  Button,
  Group,
  Select,
  SimpleGrid,
  Stack,
  TagsInput,
  Text,
  TextInput,
} from '@mantine/core'
import { type SyntheticEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'

import { useRead } from '../../../api/useRead'
import { useOwner } from '../../../app/owner'
import { currentOf, useApply } from '../../../ui/apply'
import { Conflict } from '../../../ui/Conflict'
import { useTyping } from '../../../ui/KeepTyped'
import { fits } from '../../../ui/limit'
import { LimitedInput } from '../../../ui/LimitedText'
import { SaveBar } from '../../../ui/SaveBar'
import { useDraftCheck } from '../../../ui/useDraftCheck'
import { type Entry, useOpenEntry } from '../entry'
import { TYPES } from '../queries'
import { editMetadata, type MetadataDraft, shownValue } from './operations'

export function MetadataForm({ onDone }: { onDone: () => void }) {
  const { t } = useTranslation('entry')
  const owner = useOwner()
  const { entry, reload } = useOpenEntry()
  const types = useRead(TYPES, { owner: owner.id })
  const [base, setBase] = useState({ version: entry.version, data: dataOf(entry) })
  const [draft, setDraft] = useState(base.data)
  const [reason, setReason] = useState('')
  const check = useDraftCheck()
  const apply = useApply()
  const put = (change: Partial<MetadataDraft>) => setDraft((before) => ({ ...before, ...change }))
  useTyping(draft !== base.data)
  const operations = editMetadata(entry.id, base.version, base.data, draft)
  const conflict = currentOf(apply.fault)
  const short = fits(draft.name, 'name') && fits(draft.summary, 'summary')
  const save = async (event: SyntheticEvent) => {
    event.preventDefault()
    if (!(await check.allows({ name: draft.name, type: draft.type, text: draft.summary }))) return
    const done = await apply.run({ kb: entry.knowledgeBase.id, operations, reason: reason.trim() })
    if (done) onDone()
    // Of a conflict too: what is there now is shown beside what was typed.
    reload()
  }
  const seen = (next: MetadataDraft) => {
    setBase({ version: entry.version, data: dataOf(entry) })
    setDraft(next)
    apply.forget()
  }
  return (
    <form onSubmit={(event) => void save(event)} aria-label={t('metadata.edit')}>
      <Stack gap="sm" mt="xs">
        <SimpleGrid cols={{ base: 1, xs: 2 }}>
          <LimitedInput
            of="name"
            label={t('metadata.name')}
            required
            autoFocus
            value={draft.name}
            onChange={(name) => put({ name })}
          />
          <Select
            label={t('metadata.type')}
            required
            searchable
            allowDeselect={false}
            data={[...new Set([draft.type, ...(types.data?.entryTypes ?? [])])]}
            value={draft.type}
            onChange={(type) => put({ type: type ?? draft.type })}
          />
        </SimpleGrid>
        <LimitedInput
          of="summary"
          label={t('metadata.summary')}
          value={draft.summary}
          onChange={(summary) => put({ summary })}
        />
        <TagsInput
          label={t('metadata.aliases')}
          description={t('metadata.aliasesHint')}
          maxTags={20}
          value={[...draft.aliases]}
          onChange={(aliases) => put({ aliases })}
        />
        <AttributeFields attributes={draft.attributes} onChange={(attributes) => put({ attributes })} />
        {conflict && entry.version >= conflict.version && (
          <Conflict
            mine={textOf(draft)}
            theirs={textOf(dataOf(entry))}
            version={conflict.version}
            onTakeTheirs={() => seen(dataOf(entry))}
            onKeepMine={() => seen(draft)}
          />
        )}
        <SaveBar
          reason={reason}
          onReason={setReason}
          warnings={check.warnings}
          fault={conflict ? undefined : apply.fault}
          busy={apply.busy}
          ready={draft.name.trim() !== '' && short && operations.length > 0 && conflict === null}
          onCancel={onDone}
        />
      </Stack>
    </form>
  )
}

function AttributeFields({
  attributes,
  onChange,
}: {
  attributes: MetadataDraft['attributes']
  onChange: (attributes: MetadataDraft['attributes']) => void
}) {
  const { t } = useTranslation('entry')
  const put = (place: number, change: Partial<MetadataDraft['attributes'][number]>) =>
    onChange(attributes.map((one, at) => (at === place ? { ...one, ...change } : one)))
  return (
    <div role="group" aria-label={t('metadata.attributes')}>
      <Text size="sm" fw={500}>
        {t('metadata.attributes')}
      </Text>
      <Stack gap={6}>
        {attributes.map((one, place) => (
          <Group key={place} wrap="nowrap" gap="xs">
            <TextInput
              aria-label={t('metadata.key')}
              placeholder={t('metadata.key')}
              value={one.key}
              onChange={(event) => put(place, { key: event.currentTarget.value })}
            />
            <TextInput
              aria-label={t('metadata.valueOf', { key: one.key })}
              placeholder={t('metadata.value')}
              flex={1}
              value={one.value}
              onChange={(event) => put(place, { value: event.currentTarget.value })}
            />
            <ActionIcon
              variant="default"
              aria-label={t('metadata.removeKey', { key: one.key })}
              onClick={() => onChange(attributes.filter((_, at) => at !== place))}
            >
              ×
            </ActionIcon>
          </Group>
        ))}
        <Group>
          <Button
            variant="default"
            size="xs"
            onClick={() => onChange([...attributes, { key: '', value: '' }])}
          >
            {t('metadata.addKey')}
          </Button>
        </Group>
      </Stack>
    </div>
  )
}

function dataOf(entry: Entry): MetadataDraft {
  // Of several values of one key only the last holds; the others are history.
  const last = new Map(entry.attributes.map((one) => [one.key, shownValue(one.value)]))
  return {
    name: entry.name,
    type: entry.type,
    aliases: entry.aliases,
    summary: entry.summary,
    attributes: [...last].map(([key, value]) => ({ key, value })),
  }
}

function textOf(data: MetadataDraft): string {
  const attributes = data.attributes.map(({ key, value }) => `${key}: ${value}`)
  return [data.name, data.type, data.aliases.join(', '), data.summary, ...attributes].join('\n')
}
