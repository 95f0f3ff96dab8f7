/** A moment that one types or picks, in the reader's own zone. */
import { TextInput } from '@mantine/core'
import { useState } from 'react'

/** `value` is RFC 3339, or empty; only whole moments are told. */
export function Moment({
  label,
  description,
  value,
  error,
  onChange,
}: {
  label: string
  description?: string
  value: string
  error?: string | undefined
  onChange: (value: string) => void
}) {
  // While one types, the field shows just that; a moment that is not whole yet is told to nobody.
  const [typed, setTyped] = useState<string | null>(null)
  return (
    <TextInput
      type="datetime-local"
      label={label}
      description={description}
      value={typed ?? localOf(value)}
      onBlur={() => setTyped(null)}
      error={error}
      onChange={(event) => {
        const text = event.currentTarget.value
        setTyped(text)
        if (text === '') onChange('')
        else if (!Number.isNaN(Date.parse(text))) onChange(new Date(text).toISOString())
      }}
    />
  )
}

/** The form that the browser's field takes: local time to the minute. */
function localOf(value: string): string {
  if (value === '') return ''
  const at = new Date(value)
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}
