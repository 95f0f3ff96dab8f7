/** What changed between two texts, word by word; signs and words beside the colours (CO-9, CO-23). */
import { Text, VisuallyHidden } from '@mantine/core'
import { diffWordsWithSpace } from 'diff'
import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'

import { Told } from './Told'

export function WordDiff({ before, after }: { before: string; after: string }) {
  const { t } = useTranslation('ui')
  const parts = useMemo(() => diffWordsWithSpace(before, after), [before, after])
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

function Changed({ as: Tag, label, text }: { as: 'del' | 'ins'; label: string; text: string }) {
  return (
    <Tag className={Tag === 'del' ? 'diff-removed' : 'diff-added'}>
      <VisuallyHidden>{label}</VisuallyHidden>
      <Told>{text}</Told>
    </Tag>
  )
}
