/** "Let the Agent learn material": which Agent and which memory first, then a file, a text or an address (CO-34). */
import { Button, Modal } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useTranslation } from 'react-i18next'

import { LearnForm } from './LearnForm'

export function LearnMaterial({ onKept }: { onKept: () => void }) {
  const { t } = useTranslation('materials')
  const { t: ui } = useTranslation('ui')
  const [opened, { open, close }] = useDisclosure(false)
  return (
    <>
      <Button onClick={open}>{t('learn.open')}</Button>
      <Modal
        opened={opened}
        onClose={close}
        title={t('learn.open')}
        size="lg"
        closeOnClickOutside={false}
        closeButtonProps={{ 'aria-label': ui('close') }}
      >
        <LearnForm
          onCancel={close}
          onKept={() => {
            close()
            onKept()
          }}
        />
      </Modal>
    </>
  )
}
