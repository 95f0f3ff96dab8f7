/** In words, which values a setting takes. */
import { useTranslation } from 'react-i18next'

import type { Setting } from './values'

export function useRange(): (setting: Setting) => string {
  const { t } = useTranslation('settings')
  return ({ takes, nullable, low, high, above }) => {
    const bounds = {
      low: low === null ? '' : t(above ? 'range.above' : 'range.from', { low }),
      high: high === null ? '' : t('range.to', { high }),
    }
    const words = [t(`range.${takes}`), bounds.low, bounds.high, nullable ? t('range.nullable') : '']
    return words.filter((word) => word !== '').join(' ')
  }
}
