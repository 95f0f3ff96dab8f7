/** The words that are looked for; asked a moment after typing stops (CO-11). */
import { CloseButton, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'

const PAUSE_MS = 80

export function SearchField({ value, onChange }: { value: string; onChange: (text: string) => void }) {
  const { t } = useTranslation('entries')
  const [typed, setTyped] = useState(value)
  const [typing, setTyping] = useState(false)
  const ask = useDebouncedCallback(onChange, PAUSE_MS)
  // Who types is not interrupted by the address, which follows him; else the field shows what the address says.
  const shown = typing ? typed : value
  return (
    <TextInput
      type="search"
      label={t('search')}
      placeholder={t('searchHint')}
      value={shown}
      onFocus={() => {
        setTyped(value)
        setTyping(true)
      }}
      onBlur={() => {
        ask.flush()
        setTyping(false)
      }}
      onChange={(event) => {
        setTyped(event.currentTarget.value)
        ask(event.currentTarget.value.trim())
      }}
      rightSection={
        shown !== '' && (
          <CloseButton
            size="sm"
            aria-label={t('searchClear')}
            onClick={() => {
              setTyped('')
              onChange('')
            }}
          />
        )
      }
      flex={1}
      miw={220}
    />
  )
}
