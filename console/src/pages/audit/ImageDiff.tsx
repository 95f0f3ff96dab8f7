/** Before and after of one change, field by field (CO-52, CO-53). */
import { Stack, Text } from '@mantine/core'
import { useCallback, useMemo } from 'react'
import { useTranslation } from 'react-i18next'

import { en as ui } from '../../ui/texts'
import { WordDiff } from '../../ui/WordDiff'
import { en as entry } from '../entry/texts'
import { changes, imageOf, isList, type Word } from './images'
import { en } from './texts'

export function ImageDiff({ before, after }: { before: unknown; after: unknown }) {
  const { t } = useTranslation('audit')
  const word = useWord()
  const fields = useMemo(() => changes(imageOf(before), imageOf(after), word), [before, after, word])
  if (fields.length === 0) return <Text c="dimmed">{t('noImages')}</Text>
  return (
    <Stack gap="xs">
      {fields.map((change) => (
        <div key={change.field}>
          <Text size="xs" c="dimmed">
            <FieldName of={change.field} />
          </Text>
          <WordDiff before={change.before} after={change.after} byLine={isList(change.field)} />
        </div>
      ))}
    </Stack>
  )
}

/** Bases, standings and roles in the language of the reader; the images of records hold those of the API. */
function useWord(): Word {
  const { t } = useTranslation(['ui', 'entry'])
  return useCallback(
    (field, value) => {
      const name = value.toUpperCase()
      if (field === 'basis' && isIn(ui.basis, name)) return t(`ui:basis.${name}`)
      if (field === 'standing' && isIn(ui.standing, name)) return t(`ui:standing.${name}`)
      if (field === 'role' && isIn(entry.role, name)) return t(`entry:role.${name}`)
      return undefined
    },
    [t],
  )
}

const isIn = <T extends object>(words: T, name: string): name is Extract<keyof T, string> => name in words

/** The field in words; its name in the API for what this console does not know. */
function FieldName({ of }: { of: string }) {
  const { t } = useTranslation('audit')
  return <>{isKnown(of) ? t(`field.${of}`) : of}</>
}

const isKnown = (field: string): field is keyof typeof en.field => field in en.field
