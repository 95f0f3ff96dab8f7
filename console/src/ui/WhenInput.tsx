/** A field for when something begins or ends to hold; what says no time is told at once. */
import { TextInput, type TextInputProps } from '@mantine/core'
import { useTranslation } from 'react-i18next'

import { isWhen } from './validity'

type Props = Omit<TextInputProps, 'value' | 'onChange' | 'error'> & {
  value: string
  onChange: (text: string) => void
}

export function WhenInput({ value, onChange, ...others }: Props) {
  const { t } = useTranslation('ui')
  return (
    <TextInput
      {...others}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      error={isWhen(value) ? undefined : t('valid.noDate')}
    />
  )
}
