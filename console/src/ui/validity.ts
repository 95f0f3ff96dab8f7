/** When a statement holds in the world, as exactly as it is known and never more (KN-74); days are those of UTC. */
import { useTranslation } from 'react-i18next'

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
