/** The form of "Let the Agent learn material"; what was typed stays if the server refuses (CO-8, CO-34, CO-37). */
import { Button, FileInput, Group, SegmentedControl, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { type SyntheticEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useNavigate } from 'react-router'

import { useOwner } from '../../../app/owner'
import { entryPath, materialPath } from '../../../app/paths'
import { FaultNotice } from '../../../ui/FaultNotice'
import { LimitedInput } from '../../../ui/LimitedText'
import { SentBar } from '../../../ui/SentBar'
import { AgentChoice, type Place, ScopeChoice } from './ScopeChoice'
import { EMPTY, isReady, KINDS, type Typed } from './typed'
import { useSubmit } from './useSubmit'

export function LearnForm({ onCancel, onKept }: { onCancel: () => void; onKept: () => void }) {
  const { t } = useTranslation('materials')
  const { t: ui } = useTranslation('ui')
  const owner = useOwner()
  const navigate = useNavigate()
  const [place, setPlace] = useState<Place>({ agent: owner.id, kb: '' })
  const [typed, setTyped] = useState<Typed>(EMPTY)
  const submit = useSubmit()
  const put = (change: Partial<Typed>) => setTyped((before) => ({ ...before, ...change }))
  const learn = async (event: SyntheticEvent) => {
    event.preventDefault()
    const made = await submit.run(place, typed)
    if (made === null) return
    if (made.entry) void navigate(entryPath(place.agent, made.id))
    else if (place.agent === owner.id) onKept()
    else void navigate(materialPath(place.agent, made.id))
  }
  return (
    <form onSubmit={(event) => void learn(event)}>
      <Stack gap="sm">
        <AgentChoice value={place.agent} onChange={(agent) => setPlace({ agent, kb: '' })} />
        <ScopeChoice
          key={place.agent}
          place={place}
          onChange={(kb) => setPlace((before) => ({ ...before, kb }))}
        />
        {place.kb === '' ? (
          <Text size="sm" c="dimmed">
            {t('learn.scopeFirst')}
          </Text>
        ) : (
          <What typed={typed} put={put} />
        )}
        <SentBar sent={submit.sent} />
        {submit.fault && <FaultNotice fault={submit.fault} />}
        <Group justify="end">
          <Button variant="default" onClick={onCancel}>
            {ui('cancel')}
          </Button>
          <Button type="submit" loading={submit.busy} disabled={place.kb === '' || !isReady(typed)}>
            {t('learn.button')}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

function What({ typed, put }: { typed: Typed; put: (change: Partial<Typed>) => void }) {
  const { t } = useTranslation('materials')
  return (
    <>
      <SegmentedControl
        aria-label={t('learn.kind')}
        value={typed.kind}
        onChange={(kind) => put({ kind: kind })}
        data={KINDS.map((kind) => ({ value: kind, label: t(`learn.kinds.${kind}`) }))}
      />
      {typed.kind === 'file' && (
        <FileInput
          label={t('learn.file')}
          description={t('learn.fileHint')}
          placeholder={t('learn.choose')}
          required
          value={typed.file}
          onChange={(file) => put({ file })}
        />
      )}
      {typed.kind === 'text' && (
        <Textarea
          label={t('learn.text')}
          description={t('learn.textHint')}
          required
          autosize
          minRows={4}
          maxRows={16}
          value={typed.text}
          onChange={(event) => put({ text: event.currentTarget.value })}
        />
      )}
      {typed.kind === 'url' && (
        <TextInput
          label={t('learn.url')}
          description={t('learn.urlHint')}
          type="url"
          required
          value={typed.url}
          onChange={(event) => put({ url: event.currentTarget.value })}
        />
      )}
      <LimitedInput
        of="title"
        label={t('learn.title')}
        description={t('learn.titleHint')}
        value={typed.title}
        onChange={(title) => put({ title })}
      />
    </>
  )
}
