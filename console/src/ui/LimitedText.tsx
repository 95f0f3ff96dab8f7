/** Fields for texts of a limited length: near the limit they say how many characters are left, past it how many are too many. */
import { Text, Textarea, type TextareaProps, TextInput, type TextInputProps } from '@mantine/core'
import type { ReactNode, Ref } from 'react'
import { useTranslation } from 'react-i18next'

import { fits, isNear, left, type Limited } from './limit'

type Own<P> = Omit<P, 'value' | 'onChange' | 'maxLength'> & {
  of: Limited
  value: string
  onChange: (text: string) => void
}

export function LimitedInput({ of, value, onChange, error, ...others }: Own<TextInputProps>) {
  const over = useOver(value, of)
  return (
    <Counted of={of} value={value}>
      <TextInput
        {...others}
        value={value}
        onChange={(event) => onChange(event.currentTarget.value)}
        error={over ?? error}
      />
    </Counted>
  )
}

export function LimitedArea({
  of,
  value,
  onChange,
  error,
  ...others
}: Own<TextareaProps> & { ref?: Ref<HTMLTextAreaElement> }) {
  const over = useOver(value, of)
  return (
    <Counted of={of} value={value}>
      <Textarea
        {...others}
        value={value}
        onChange={(event) => onChange(event.currentTarget.value)}
        error={over ?? error}
      />
    </Counted>
  )
}

function useOver(value: string, of: Limited): string | undefined {
  const { t } = useTranslation('ui')
  return fits(value, of) ? undefined : t('limit.over', { count: -left(value, of) })
}

function Counted({ of, value, children }: { of: Limited; value: string; children: ReactNode }) {
  const { t } = useTranslation('ui')
  return (
    <div>
      {children}
      <Text size="xs" c="dimmed" aria-live="polite">
        {fits(value, of) && isNear(value, of) && t('limit.left', { count: left(value, of) })}
      </Text>
    </div>
  )
}
