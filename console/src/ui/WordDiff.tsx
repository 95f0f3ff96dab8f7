/** What changed between two texts, word by word or line by line; signs and words beside the colours (CO-9, CO-23). */
import { Text, VisuallyHidden } from '@mantine/core'
import { diffLines, diffWordsWithSpace } from 'diff'
import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'

import { Told } from './Told'

export function WordDiff({
  before,
  after,
  byLine = false,
}: {
  before: string
  after: string
  /** For lists of what is one thing each, such as quotes. */
  byLine?: boolean
}) {
  const { t } = useTranslation('ui')
  const parts = useMemo(
    () => (byLine ? diffLines(lined(before), lined(after)) : diffWordsWithSpace(before, after)),
    [before, after, byLine],
  )
  if (before === after) return <Text c="dimmed">{t('diff.same')}</Text>
  return (
    <div className="text">
      {parts.map((part, place) => {
        if (part.removed) return <Changed key={place} as="del" label={t('diff.removed')} text={part.value} />
        if (part.added) return <Changed key={place} as="ins" label={t('diff.added')} text={part.value} />
        return <Told key={place}>{part.value}</Told>
      })}
    </div>
  )
}

/** Ended by a line break, so that the last line of one list is the same as that line within another. */
const lined = (text: string): string => (text === '' ? '' : `${text}\n`)

function Changed({ as: Tag, label, text }: { as: 'del' | 'ins'; label: string; text: string }) {
  return (
    <Tag className={Tag === 'del' ? 'diff-removed' : 'diff-added'}>
      <VisuallyHidden>{label}</VisuallyHidden>
      <Told>{text}</Told>
    </Tag>
  )
}
