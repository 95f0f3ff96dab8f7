/** Finds a source and takes some of its words, chosen with mouse or keyboard as in any text (CO-28). */
import {
  Blockquote,
  Button,
  Group,
  Modal,
  Stack,
  Text,
  Textarea,
  TextInput,
  UnstyledButton,
} from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { type SyntheticEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'

import type { ResultOf } from '../../../api/graphql'
import { usePages } from '../../../api/usePages'
import { useRead } from '../../../api/useRead'
import { useOwner } from '../../../app/owner'
import { Remote } from '../../../ui/Remote'
import { Rows } from '../../../ui/Rows'
import { Told } from '../../../ui/Told'
import { shownTime } from '../../../ui/When'
import { useFocusBack } from '../../../ui/useFocusBack'
import { useOpenEntry } from '../entry'
import { FIND_SOURCES, SOURCES } from '../queries'
import type { Picked } from './operations'

type Found = ResultOf<typeof FIND_SOURCES>['memorySearch']['items'][number]['sources'][number]['source']

/** Shorter words say nothing; a whole text may be shorter (KN-70). */
const LEAST = 4
const MOST = 500

export function SourcePicker({ onClose, onPick }: { onClose: () => void; onPick: (picked: Picked) => void }) {
  useFocusBack()
  const { t } = useTranslation('entry')
  const { t: ui } = useTranslation('ui')
  const [source, setSource] = useState<Found>()
  return (
    <Modal
      opened
      onClose={onClose}
      size="lg"
      title={t('quotes.pick')}
      closeButtonProps={{ 'aria-label': ui('close') }}
    >
      {source === undefined ? (
        <FindSource onFound={setSource} />
      ) : (
        <TakeWords source={source} onBack={() => setSource(undefined)} onPick={onPick} />
      )}
    </Modal>
  )
}

function FindSource({ onFound }: { onFound: (source: Found) => void }) {
  const { t } = useTranslation('entry')
  const [typed, setTyped] = useState('')
  const [text] = useDebouncedValue(typed.trim(), 150)
  return (
    <Stack gap="sm">
      <TextInput
        type="search"
        label={t('quotes.search')}
        description={t('quotes.searchHint')}
        data-autofocus
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
      />
      {text === '' ? <OfEntry onFound={onFound} /> : <Searched text={text} onFound={onFound} />}
    </Stack>
  )
}

type Finds = { onFound: (source: Found) => void }

/** Those behind the entry, while nothing is searched for. */
function OfEntry({ onFound }: Finds) {
  const { t } = useTranslation('entry')
  const { entry } = useOpenEntry()
  const pages = usePages(SOURCES, { id: entry.id, after: null }, (data) => data.entry?.sources)
  return (
    <Rows pages={pages} empty={t('quotes.none')}>
      {(rows) => <Choices sources={rows} onFound={onFound} />}
    </Rows>
  )
}

/** What the search finds at the owner. */
function Searched({ text, onFound }: Finds & { text: string }) {
  const { t } = useTranslation('entry')
  const owner = useOwner()
  const read = useRead(FIND_SOURCES, {
    input: { query: text, ownerId: owner.id, maxItems: 12, rerank: false },
  })
  return (
    <Remote read={read} pick={(data) => data.memorySearch.items}>
      {(items) => {
        const all = items.flatMap((item) => item.sources.map(({ source }) => source))
        if (all.length === 0) return <Text c="dimmed">{t('quotes.none')}</Text>
        return <Choices sources={[...new Map(all.map((one) => [one.id, one])).values()]} onFound={onFound} />
      }}
    </Remote>
  )
}

const Choices = ({ sources, onFound }: Finds & { sources: readonly Found[] }) =>
  sources.map((one) => (
    <UnstyledButton key={one.id} className="choice" onClick={() => onFound(one)}>
      <Text size="xs" c="dimmed" component="span">
        <SourceName of={one} />
      </Text>
      <Text size="sm" lineClamp={2} component="span">
        <Told>{one.text}</Told>
      </Text>
    </UnstyledButton>
  ))

function TakeWords({
  source,
  onBack,
  onPick,
}: {
  source: Found
  onBack: () => void
  onPick: (picked: Picked) => void
}) {
  const { t } = useTranslation('entry')
  const text = source.text.replaceAll('\r\n', '\n').normalize('NFC')
  const [quote, setQuote] = useState(text.length <= MOST ? text : '')
  const length = Array.from(quote).length
  const fits = length <= MOST && (length >= LEAST || quote === text)
  const take = (event: SyntheticEvent<HTMLTextAreaElement>) => {
    const { selectionStart, selectionEnd } = event.currentTarget
    if (selectionEnd > selectionStart) setQuote(text.slice(selectionStart, selectionEnd))
  }
  return (
    <Stack gap="sm">
      <Textarea
        label={<SourceName of={source} />}
        description={t('quotes.selectHint')}
        data-autofocus
        // Not `readOnly`: browsers hide the caret there, and who has no mouse selects with it.
        aria-readonly
        onChange={() => undefined}
        autosize
        minRows={3}
        maxRows={14}
        value={text}
        onSelect={take}
      />
      <div role="status" aria-label={t('quotes.chosen')}>
        <Text size="sm" fw={500}>
          {t('quotes.chosen')}
        </Text>
        {quote === '' ? (
          <Text size="sm" c="dimmed">
            {t('quotes.nothing')}
          </Text>
        ) : (
          <Blockquote p="xs" my={0}>
            <Told>{quote}</Told>
          </Blockquote>
        )}
        {!fits && quote !== '' && <Text size="sm">{t('quotes.length', { least: LEAST, most: MOST })}</Text>}
      </div>
      <Group justify="end">
        <Button variant="default" onClick={onBack}>
          {t('quotes.back')}
        </Button>
        <Button
          disabled={quote === '' || !fits}
          onClick={() =>
            onPick({ source: source.id, title: source.title ?? source.speakerName, quote, role: 'SUPPORTS' })
          }
        >
          {t('quotes.use')}
        </Button>
      </Group>
    </Stack>
  )
}

function SourceName({ of }: { of: Found }) {
  const { t, i18n } = useTranslation('ui')
  const when = shownTime(of.occurredAt, i18n.language)
  return (
    <>
      {t('citation.from', { kind: t(`sourceKind.${of.kind}`), when })}
      {' · '}
      <Told>{of.title ?? of.speakerName}</Told>
    </>
  )
}
