/** A moment in the reader's language and zone; the exact time is in its title. */
import { useTranslation } from 'react-i18next'

export function When({ at, dateOnly = false }: { at: string | null | undefined; dateOnly?: boolean }) {
  const { t, i18n } = useTranslation('ui')
  if (at === null || at === undefined) return <>{t('when.never')}</>
  return (
    <time dateTime={at} title={at}>
      {shownTime(at, i18n.language, dateOnly)}
    </time>
  )
}

export function shownTime(at: string, language: string, dateOnly = false): string {
  const style = dateOnly
    ? { dateStyle: 'medium' as const }
    : { dateStyle: 'medium' as const, timeStyle: 'short' as const }
  return new Intl.DateTimeFormat(language, style).format(new Date(at))
}
