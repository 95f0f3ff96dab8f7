/** When a statement holds in the world, as exactly as it is known and never more (KN-74); days are those of UTC. */
import { useTranslation } from 'react-i18next'

import { momentIn } from './moment'

export type Validity = {
  validFrom: string | null
  validTo: string | null
  fromPrecision: 'YEAR' | 'MONTH' | 'DAY' | 'INSTANT' | null
  toPrecision: 'YEAR' | 'MONTH' | 'DAY' | 'INSTANT' | null
}

const LENGTHS = { YEAR: 4, MONTH: 7, DAY: 10 } as const

/** `2025-04` for April; what is written in the field of a form means the same. */
export function shownDate(at: string, precision: Validity['fromPrecision']): string {
  const exact = precision ?? (at.endsWith('T00:00:00.000Z') ? 'DAY' : 'INSTANT')
  return exact === 'INSTANT' ? at : at.slice(0, LENGTHS[exact])
}

const DATE = /^\d{4}(?:-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\d|3[01]))?)?$/

/** Whether a field may hold this: nothing, or a year, a month, a day or a moment, as one writes them (KN-74). */
export function isWhen(typed: string): boolean {
  const text = typed.trim()
  if (text === '') return true
  if (!DATE.test(text)) return momentIn(text) !== ''
  // The last days of short months: 31 April would be a day in May.
  return text.length < LENGTHS.DAY || new Date(`${text}T00:00:00Z`).toISOString().startsWith(text)
}

export const begins = (of: Validity): string =>
  of.validFrom === null ? '' : shownDate(of.validFrom, of.fromPrecision)

export const ends = (of: Validity): string =>
  of.validTo === null ? '' : shownDate(of.validTo, of.toPrecision)

export function useValidity(): (of: Validity) => string {
  const { t } = useTranslation('ui')
  return (of) => {
    const [from, to] = [begins(of), ends(of)]
    if (from !== '' && to !== '') return t('valid.both', { from, to })
    if (from !== '') return t('valid.since', { from })
    return to === '' ? '' : t('valid.until', { to })
  }
}
