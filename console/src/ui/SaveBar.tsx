/** The foot of a form: why, save, cancel. Without a reason nothing can be saved (CO-24). */
import { Button, Group } from '@mantine/core'
import { useTranslation } from 'react-i18next'

import type { Fault } from '../api/fault'
import { DraftWarnings } from './DraftWarnings'
import { FaultNotice } from './FaultNotice'
import { isReason } from './limit'
import { LimitedArea } from './LimitedText'
import type { DraftWarning } from './useDraftCheck'

export function SaveBar({
  reason,
  onReason,
  warnings = [],
  fault,
  busy,
  ready = true,
  action,
  onCancel,
}: {
  reason: string
  onReason: (reason: string) => void
  warnings?: readonly DraftWarning[]
  fault: Fault | undefined
  busy: boolean
  /** Whether all else is filled in. */
  ready?: boolean
  /** The word on the button, if it is not "Save". */
  action?: string
  onCancel: () => void
}) {
  const { t } = useTranslation('ui')
  return (
    <>
      <LimitedArea
        of="reason"
        label={t('reason')}
        description={t('reasonHint')}
        required
        autosize
        minRows={1}
        value={reason}
        onChange={onReason}
      />
      <DraftWarnings warnings={warnings} />
      {fault && <FaultNotice fault={fault} />}
      <Group justify="end">
        <Button variant="default" onClick={onCancel}>
          {t('cancel')}
        </Button>
        <Button type="submit" loading={busy} disabled={!ready || !isReason(reason)}>
          {warnings.length > 0 ? t('draft.anyway') : (action ?? t('save'))}
        </Button>
      </Group>
    </>
  )
}
