/** The preview of a restore, and the only place from where one is started (CO-53 to CO-57, CO-59). */
import { Alert, Button, Group, Modal, Stack } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'

import type { FragmentOf, ResultOf } from '../../api/graphql'
import { useRead } from '../../api/useRead'
import { useWrite } from '../../api/useWrite'
import { FaultNotice } from '../../ui/FaultNotice'
import { isReason } from '../../ui/limit'
import { LimitedArea } from '../../ui/LimitedText'
import { Remote } from '../../ui/Remote'
import { useFocusBack } from '../../ui/useFocusBack'
import { PREVIEW, RESTORE, type ROW } from './documents'
import { Steps } from './Steps'

type Preview = ResultOf<typeof PREVIEW>['restorePreview']

/** Answers that say that the present is no longer what the preview showed. */
const OVERTAKEN = new Set(['PREVIEW_STALE', 'RESTORE_CONFLICT', 'NAME_TAKEN'])

export function RestoreModal({
  ids,
  onClose,
  onRestored,
}: {
  ids: readonly string[]
  onClose: () => void
  onRestored: (records: readonly FragmentOf<typeof ROW>[]) => void
}) {
  useFocusBack()
  const { t } = useTranslation(['audit', 'ui'])
  const read = useRead(PREVIEW, { ids: [...ids] })
  const write = useWrite(RESTORE)
  const stale = write.fault?.code === 'PREVIEW_STALE'
  const restore = async (preview: Preview, reason: string) => {
    const done = await write.run({ ids: [...ids], reason, previewHash: preview.previewHash })
    if (done) onRestored(done.restoreBatch.records)
  }
  // The new preview is asked for as soon as the server says that the old one no longer holds.
  const [seen, setSeen] = useState(write.fault)
  if (write.fault !== seen) {
    setSeen(write.fault)
    if (write.fault && OVERTAKEN.has(write.fault.code)) read.reload()
  }
  return (
    <Modal
      opened
      onClose={onClose}
      size="xl"
      title={t('previewTitle', { count: ids.length })}
      closeButtonProps={{ 'aria-label': t('ui:close') }}
    >
      <Stack>
        {stale && (
          <Alert role="alert" color="orange" title={t('staleTitle')}>
            {t('stale')}
          </Alert>
        )}
        {write.fault && !stale && <FaultNotice fault={write.fault} />}
        <Remote read={read} pick={(data) => data.restorePreview}>
          {(preview) => (
            <>
              <Verdict preview={preview} />
              <Steps steps={preview.steps} />
              <Confirm
                allowed={preview.restorable && !read.loading}
                busy={write.busy}
                onClose={onClose}
                onConfirm={(reason) => void restore(preview, reason)}
              />
            </>
          )}
        </Remote>
      </Stack>
    </Modal>
  )
}

function Verdict({ preview }: { preview: Preview }) {
  const { t } = useTranslation('audit')
  const conflicts = preview.steps.filter((step) => step.conflict).length
  const taken = preview.steps.some((step) => step.nameTakenBy !== null)
  if (preview.restorable) return null
  return (
    <Alert role="alert" color="red" title={t('notRestorable')}>
      {conflicts > 0 && t('conflicts', { count: conflicts })} {taken && t('nameTaken')}
    </Alert>
  )
}

/** What is typed stays here while previews come and go. */
function Confirm({
  allowed,
  busy,
  onClose,
  onConfirm,
}: {
  allowed: boolean
  busy: boolean
  onClose: () => void
  onConfirm: (reason: string) => void
}) {
  const { t } = useTranslation(['audit', 'ui'])
  const [reason, setReason] = useState('')
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (allowed && isReason(reason)) onConfirm(reason.trim())
      }}
    >
      <Stack>
        <LimitedArea
          of="reason"
          required
          autosize
          minRows={2}
          label={t('ui:reason')}
          description={t('ui:reasonHint')}
          value={reason}
          onChange={setReason}
        />
        <Group justify="end">
          <Button variant="default" onClick={onClose}>
            {t('ui:cancel')}
          </Button>
          <Button type="submit" loading={busy} disabled={!allowed || !isReason(reason)}>
            {t('restore')}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
