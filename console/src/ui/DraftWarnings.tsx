/** What is odd about words that are about to be saved; saving again goes on (CO-18). */
import { Alert, List } from '@mantine/core'
import { useTranslation } from 'react-i18next'

import type { DraftWarning } from './useDraftCheck'

export function DraftWarnings({ warnings }: { warnings: readonly DraftWarning[] }) {
  const { t } = useTranslation('ui')
  if (warnings.length === 0) return null
  return (
    <Alert role="alert" color="yellow" title={t('draft.title')}>
      <List size="sm">
        {warnings.map((one) => (
          <List.Item key={one}>{t(`draft.${one}`)}</List.Item>
        ))}
      </List>
    </Alert>
  )
}
