/** The records that a restore wrote, shown also where the filter would leave them out (CO-58). */
import { Alert } from '@mantine/core'
import { useTranslation } from 'react-i18next'

import type { FragmentOf } from '../../api/graphql'
import type { ROW } from './documents'
import { RecordTable } from './Records'

const SHOWN = 20

export function Restored({
  records,
  onOpen,
  onClose,
}: {
  records: readonly FragmentOf<typeof ROW>[]
  onOpen: (id: string) => void
  onClose: () => void
}) {
  const { t } = useTranslation(['audit', 'ui'])
  return (
    <Alert
      role="status"
      color="green"
      title={t('restored', { count: records.length })}
      withCloseButton
      closeButtonLabel={t('ui:close')}
      onClose={onClose}
    >
      <RecordTable rows={records.slice(0, SHOWN)} onOpen={onOpen} />
    </Alert>
  )
}
