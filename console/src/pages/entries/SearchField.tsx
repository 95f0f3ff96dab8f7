/** The words that are looked for; asked a moment after typing stops (CO-11). */
import { CloseButton, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'

const PAUSE_MS = 80

export function SearchField({ value, onChange }: { value: string; onChange: (text: string) => void }) {
  const { t } = useTranslation('entries')
  const [typed, setTyped] = useState({ text: value, from: value })
  // What the address says wins over what was typed before it changed.
  if (typed.from !== value && typed.text.trim() !== value) setTyped({ text: value, from: value })
  const ask = useDebouncedCallback(onChange, PAUSE_MS)
  const write = (text: string) => {
    setTyped({ text, from: value })
    ask(text.trim())
  }
  return (
    <TextInput
      type="search"
      label={t('search')}
      placeholder={t('searchHint')}
      value={typed.text}
      onChange={(event) => write(event.currentTarget.value)}
      rightSection={
        typed.text !== '' && <CloseButton size="sm" aria-label={t('searchClear')} onClick={() => write('')} />
      }
      flex={1}
      miw={220}
    />
  )
}
