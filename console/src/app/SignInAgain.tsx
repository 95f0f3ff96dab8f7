/** A token ended in the middle of work: a new one is asked for over the page, which keeps what was typed. */
import { Modal, Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'

import { useSessionState } from '../session/current'
import { SignInForm } from '../session/SignInForm'

export function SignInAgain() {
  const { t } = useTranslation()
  const { token, expired } = useSessionState()
  return (
    <Modal
      opened={token !== null && expired}
      onClose={() => undefined}
      withCloseButton={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
      title={t('signIn.title')}
      // Above every other dialog, of those too that were opened after this one was made.
      zIndex={400}
    >
      <Text mb="sm">{t('signIn.again')}</Text>
      <SignInForm />
    </Modal>
  )
}
