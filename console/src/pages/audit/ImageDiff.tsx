/** Before and after of one change, field by field (CO-52, CO-53). */
import { Stack, Text } from '@mantine/core'
import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'

import { WordDiff } from '../../ui/WordDiff'
import { changes, imageOf } from './images'
import { en } from './texts'

export function ImageDiff({ before, after }: { before: unknown; after: unknown }) {
  const { t } = useTranslation('audit')
  const fields = useMemo(() => changes(imageOf(before), imageOf(after)), [before, after])
  if (fields.length === 0) return <Text c="dimmed">{t('noImages')}</Text>
  return (
    <Stack gap="xs">
      {fields.map((change) => (
        <div key={change.field}>
          <Text size="xs" c="dimmed">
            <FieldName of={change.field} />
          </Text>
          <WordDiff before={change.before} after={change.after} />
        </div>
      ))}
    </Stack>
  )
}

/** The field in words; its name in the API for what this console does not know. */
function FieldName({ of }: { of: string }) {
  const { t } = useTranslation('audit')
  return <>{isKnown(of) ? t(`field.${of}`) : of}</>
}

const isKnown = (field: string): field is keyof typeof en.field => field in en.field
