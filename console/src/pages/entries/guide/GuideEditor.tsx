/** Writes the guide: an outline to begin with, faults of the front matter by line, nothing overwritten (CO-33). */
import { Alert, Button, Group, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { type SyntheticEvent, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'

import type { Fault } from '../../../api/fault'
import { useWrite } from '../../../api/useWrite'
import { useOwner } from '../../../app/owner'
import { currentOf } from '../../../ui/apply'
import { Conflict } from '../../../ui/Conflict'
import { FaultNotice } from '../../../ui/FaultNotice'
import { useTyping } from '../../../ui/KeepTyped'
import { fits } from '../../../ui/limit'
import { LimitedArea } from '../../../ui/LimitedText'
import { Markdown } from '../../../ui/Markdown'
import type { Guide } from './GuidePanel'
import { partsOf, placeOf } from './outline'
import { SET_GUIDE } from './queries'

export function GuideEditor({
  guide,
  onSaved,
  onCancel,
}: {
  guide: Guide | null
  onSaved: () => void
  onCancel: () => void
}) {
  const { t, i18n } = useTranslation('entries')
  const { t: ui } = useTranslation('ui')
  const owner = useOwner()
  const field = useRef<HTMLTextAreaElement>(null)
  const [text, setText] = useState(guide?.text ?? t('guide.outline'))
  const [initial] = useState(text)
  useTyping(text !== initial)
  const [version, setVersion] = useState(guide?.version ?? 0)
  const write = useWrite(SET_GUIDE)
  const save = async (event: SyntheticEvent) => {
    event.preventDefault()
    if (await write.run({ owner: owner.id, text, version })) onSaved()
  }
  const line = lineOf(write.fault)
  const said = i18n.language === 'en' ? (write.fault?.message ?? '') : t('guide.front')
  const wrong = line === undefined ? undefined : t('guide.line', { line, message: said })
  const current = currentOf(write.fault)
  const goTo = (wanted: number) => {
    const { start, end } = placeOf(text, wanted)
    field.current?.focus()
    field.current?.setSelectionRange(start, end)
  }
  return (
    <form onSubmit={(event) => void save(event)}>
      <Stack gap="sm" mt="xs">
        <Text size="sm" c="dimmed">
          {t('guide.explained')}
        </Text>
        <SimpleGrid cols={{ base: 1, md: 2 }}>
          <LimitedArea
            of="guide"
            ref={field}
            label={t('guide.text')}
            description={t('guide.textHint')}
            autoFocus
            autosize
            minRows={12}
            maxRows={30}
            value={text}
            onChange={setText}
            error={wrong}
            spellCheck
          />
          <section aria-label={t('guide.preview')}>
            <Title order={4} size="h6">
              {t('guide.preview')}
            </Title>
            <Markdown>{partsOf(text).body}</Markdown>
          </section>
        </SimpleGrid>
        {line !== undefined && (
          <Alert role="alert" color="red" title={wrong}>
            <Button variant="default" size="xs" onClick={() => goTo(line)}>
              {t('guide.goToLine', { line })}
            </Button>
          </Alert>
        )}
        {current && (
          <Conflict
            mine={text}
            theirs={current.text}
            version={current.version}
            onTakeTheirs={() => {
              setText(current.text)
              setVersion(current.version)
              write.forget()
            }}
            onKeepMine={() => {
              setVersion(current.version)
              write.forget()
            }}
          />
        )}
        {write.fault && line === undefined && !current && <FaultNotice fault={write.fault} />}
        <Group justify="end">
          <Button variant="default" onClick={onCancel}>
            {ui('cancel')}
          </Button>
          <Button
            type="submit"
            loading={write.busy}
            disabled={(text.trim() === '' && guide === null) || !fits(text, 'guide')}
          >
            {ui('save')}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

function lineOf(fault: Fault | undefined): number | undefined {
  const line = fault?.code === 'BAD_INPUT' ? fault.details.line : undefined
  return typeof line === 'number' ? line : undefined
}
