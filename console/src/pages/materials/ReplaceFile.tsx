/** A newer version in the place of a file; how much goes stale is said before anything is uploaded (CO-41). */
import { Alert, Button, FileInput, Group, Modal, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { type SyntheticEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useNavigate } from 'react-router'

import { useRead } from '../../api/useRead'
import { useUpload } from '../../api/useUpload'
import { useOwner } from '../../app/owner'
import { materialPath } from '../../app/paths'
import { FaultNotice } from '../../ui/FaultNotice'
import { Remote } from '../../ui/Remote'
import { SentBar } from '../../ui/SentBar'
import { Told } from '../../ui/Told'
import { type Material, REPLACE, STALE_IF_REPLACED } from './queries'

export function ReplaceFile({ material }: { material: Material }) {
  const { t } = useTranslation('materials')
  const { t: ui } = useTranslation('ui')
  const [opened, { open, close }] = useDisclosure(false)
  return (
    <>
      <Button size="xs" variant="default" onClick={open}>
        {t('replace.open')}
      </Button>
      <Modal
        opened={opened}
        onClose={close}
        title={t('replace.open')}
        closeButtonProps={{ 'aria-label': ui('close') }}
      >
        <ReplaceForm material={material} onCancel={close} />
      </Modal>
    </>
  )
}

function ReplaceForm({ material, onCancel }: { material: Material; onCancel: () => void }) {
  const { t } = useTranslation('materials')
  const { t: ui } = useTranslation('ui')
  const owner = useOwner()
  const navigate = useNavigate()
  const effect = useRead(STALE_IF_REPLACED, { id: material.id })
  const [file, setFile] = useState<File | null>(null)
  const upload = useUpload(REPLACE)
  const replace = async (event: SyntheticEvent) => {
    event.preventDefault()
    if (file === null) return
    const done = await upload.run({ id: material.id, file })
    if (done === null) return
    onCancel()
    void navigate(materialPath(owner.id, done.replaceMaterial.id))
  }
  return (
    <form onSubmit={(event) => void replace(event)}>
      <Stack gap="sm">
        <Text size="sm" component="div">
          {t('replace.of')} <Told>{material.title ?? t('untitled')}</Told>
        </Text>
        <Remote read={effect} pick={(data) => data.staleIfReplaced}>
          {(count) => (
            <Alert color={count > 0 ? 'yellow' : 'blue'} role="status">
              {t('replace.effect', { count })}
            </Alert>
          )}
        </Remote>
        <FileInput
          label={t('learn.file')}
          placeholder={t('learn.choose')}
          required
          value={file}
          onChange={setFile}
        />
        <SentBar sent={upload.sent} />
        {upload.fault && <FaultNotice fault={upload.fault} />}
        <Group justify="end">
          <Button variant="default" onClick={onCancel}>
            {ui('cancel')}
          </Button>
          <Button
            type="submit"
            loading={upload.sent !== undefined}
            disabled={file === null || effect.data === undefined}
          >
            {t('replace.button')}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
