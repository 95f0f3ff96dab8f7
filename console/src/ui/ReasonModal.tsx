/** A change that takes something away, with a reason and a second thought; the text stays if the server refuses (CO-8, CO-17, CO-24). */
import { Button, Group, Modal, Stack } from '@mantine/core'
import { type ReactNode, useId, useState } from 'react'
import { useTranslation } from 'react-i18next'

import type { Fault } from '../api/fault'
import { FaultNotice } from './FaultNotice'
import { isReason } from './limit'
import { LimitedArea } from './LimitedText'
import { useFocusBack } from './useFocusBack'

export function ReasonModal({
  title,
  action,
  write,
  ready = true,
  onClose,
  onConfirm,
  children,
}: {
  title: string
  /** The word on the button. */
  action: string
  /** What is done once it is confirmed. */
  write: { busy: boolean; fault: Fault | undefined }
  /** Whether all that is asked beside the reason is answered. */
  ready?: boolean
  onClose: () => void
  onConfirm: (reason: string) => void
  children?: ReactNode
}) {
  useFocusBack()
  const { t } = useTranslation('ui')
  const [reason, setReason] = useState('')
  const id = useId()
  return (
    <Modal opened onClose={onClose} title={title} closeButtonProps={{ 'aria-label': t('close') }}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (ready && isReason(reason)) onConfirm(reason.trim())
        }}
      >
        <Stack>
          {children}
          <LimitedArea
            of="reason"
            id={id}
            data-autofocus
            required
            autosize
            minRows={2}
            label={t('reason')}
            description={t('reasonHint')}
            value={reason}
            onChange={setReason}
          />
          {write.fault && <FaultNotice fault={write.fault} />}
          <Group justify="end">
            <Button variant="default" onClick={onClose}>
              {t('cancel')}
            </Button>
            <Button type="submit" color="red" loading={write.busy} disabled={!ready || !isReason(reason)}>
              {action}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}
