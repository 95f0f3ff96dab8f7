/** Takes a token and keeps it once the server knows it; or sends the browser to the identity provider. */
import { Button, Divider, PasswordInput, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'

import { type Fault, UNAUTHENTICATED } from '../api/fault'
import { useConfig } from '../app/ConfigGate'
import { FaultNotice } from '../ui/FaultNotice'
import { refusalOf } from './check'
import { useSession } from './current'

export function SignInForm() {
  const { t } = useTranslation()
  const session = useSession()
  const { oidc } = useConfig()
  const [token, setToken] = useState('')
  const [busy, setBusy] = useState(false)
  const [fault, setFault] = useState<Fault | null>(null)
  const signIn = async () => {
    setBusy(true)
    const refused = await refusalOf(token.trim())
    setBusy(false)
    if (refused === null) session.signIn(token.trim())
    else setFault(refused)
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        void signIn()
      }}
    >
      <Stack>
        <Text size="sm">{t('signIn.intro')}</Text>
        <PasswordInput
          label={t('signIn.token')}
          required
          withAsterisk={false}
          autoComplete="off"
          data-autofocus
          value={token}
          onChange={(event) => setToken(event.currentTarget.value)}
        />
        {fault && (
          <FaultNotice
            fault={fault}
            {...(fault.code === UNAUTHENTICATED ? { said: t('signIn.refused') } : {})}
          />
        )}
        <Button type="submit" loading={busy} disabled={token.trim() === ''}>
          {t('signIn.button')}
        </Button>
        {oidc && (
          <>
            <Divider label={t('signIn.or')} />
            <Button
              variant="default"
              onClick={() => void import('./oidc').then(({ startSignIn }) => startSignIn(oidc))}
            >
              {t('signIn.oidc', { issuer: new URL(oidc.issuer).host })}
            </Button>
          </>
        )}
      </Stack>
    </form>
  )
}
