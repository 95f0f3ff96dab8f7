/** A new entry with its first block (CO-17); what agents may not write is warned of, and taken all the same (CO-18). */
import { Button, Modal, Select, SimpleGrid, Stack, TagsInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { type SyntheticEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useNavigate } from 'react-router'

import { useRead } from '../../api/useRead'
import { useOwner } from '../../app/owner'
import { entryPath } from '../../app/paths'
import { useApply } from '../../ui/apply'
import { useBaseName } from '../../ui/baseName'
import { fits } from '../../ui/limit'
import { LimitedArea, LimitedInput } from '../../ui/LimitedText'
import { SaveBar } from '../../ui/SaveBar'
import { useDraftCheck } from '../../ui/useDraftCheck'
import { CHOICES } from './queries'

export function CreateEntry({ types }: { types: readonly string[] }) {
  const { t } = useTranslation('entries')
  const { t: ui } = useTranslation('ui')
  const [opened, { open, close }] = useDisclosure(false)
  return (
    <>
      <Button onClick={open}>{t('create.open')}</Button>
      <Modal
        opened={opened}
        onClose={close}
        title={t('create.title')}
        size="lg"
        closeOnClickOutside={false}
        closeButtonProps={{ 'aria-label': ui('close') }}
      >
        <CreateForm types={types} onCancel={close} />
      </Modal>
    </>
  )
}

const EMPTY = { name: '', type: 'concept', kb: '', aliases: [] as string[], summary: '', text: '' }

const LIMITED = ['name', 'summary', 'text'] as const

function CreateForm({ types, onCancel }: { types: readonly string[]; onCancel: () => void }) {
  const { t } = useTranslation('entries')
  const owner = useOwner()
  const navigate = useNavigate()
  const bases = useBases()
  const check = useDraftCheck()
  const apply = useApply()
  const [typed, setTyped] = useState(EMPTY)
  const [reason, setReason] = useState('')
  const put = (change: Partial<typeof EMPTY>) => setTyped((before) => ({ ...before, ...change }))
  const ready = [typed.name, typed.type, typed.kb, typed.text].every((one) => one.trim() !== '')
  const short = LIMITED.every((field) => fits(typed[field], field))
  const save = async (event: SyntheticEvent) => {
    event.preventDefault()
    const { kb, ...entry } = typed
    const words = `${entry.text}\n\n${entry.summary}`
    if (!(await check.allows({ name: entry.name, type: entry.type, text: words }))) return
    const done = await apply.run({ kb, operations: [createOperation(entry)], reason: reason.trim() })
    const made = done?.applyOperations.results[0]?.createdIds[0]
    if (made !== undefined) void navigate(entryPath(owner.id, made))
  }
  return (
    <form onSubmit={(event) => void save(event)}>
      <Stack gap="sm">
        <LimitedInput
          of="name"
          label={t('create.name')}
          required
          data-autofocus
          value={typed.name}
          onChange={(name) => put({ name })}
        />
        <SimpleGrid cols={{ base: 1, xs: 2 }}>
          <Select
            label={t('create.type')}
            required
            searchable
            allowDeselect={false}
            data={[...types]}
            value={typed.type}
            onChange={(type) => put({ type: type ?? '' })}
          />
          <Select
            label={t('create.kb')}
            description={bases.length === 0 ? t('create.noKb') : undefined}
            required
            allowDeselect={false}
            data={bases}
            value={typed.kb === '' ? null : typed.kb}
            onChange={(kb) => put({ kb: kb ?? '' })}
          />
        </SimpleGrid>
        <LimitedArea
          of="text"
          label={t('create.text')}
          description={t('create.textHint')}
          required
          autosize
          minRows={3}
          value={typed.text}
          onChange={(text) => put({ text })}
        />
        <LimitedInput
          of="summary"
          label={t('create.summary')}
          value={typed.summary}
          onChange={(summary) => put({ summary })}
        />
        <TagsInput
          label={t('create.aliases')}
          description={t('create.aliasesHint')}
          maxTags={20}
          value={typed.aliases}
          onChange={(aliases) => put({ aliases })}
        />
        <SaveBar
          reason={reason}
          onReason={setReason}
          warnings={check.warnings}
          fault={apply.fault}
          busy={apply.busy}
          ready={ready && short}
          onCancel={onCancel}
        />
      </Stack>
    </form>
  )
}

function useBases(): { value: string; label: string }[] {
  const owner = useOwner()
  const baseName = useBaseName()
  const { data } = useRead(CHOICES, { owner: owner.id })
  return (data?.knowledgeBases.edges ?? []).flatMap(({ node }) =>
    node.writable ? [{ value: node.id, label: baseName(node) }] : [],
  )
}

function createOperation({ text, ...entry }: Omit<typeof EMPTY, 'kb'>) {
  const block = { text, basis: 'authored', standing: 'settled', change: 'addition' }
  return { op: 'createEntry', ...entry, blocks: [block] }
}
