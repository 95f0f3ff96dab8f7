/** Where an identity provider sends the browser back to. */
import { useEffect, useRef, useState } from 'react'
import { Navigate, useNavigate } from 'react-router'

import type { Fault } from '../api/fault'
import { useConfig } from '../app/ConfigGate'
import { FaultNotice } from '../ui/FaultNotice'
import { Loading } from '../ui/Remote'
import { useSession } from './current'

export function Component() {
  const { oidc } = useConfig()
  const session = useSession()
  const navigate = useNavigate()
  const begun = useRef(false)
  const [fault, setFault] = useState<Fault>()
  useEffect(() => {
    // The code in the address can be used once.
    if (begun.current || !oidc) return
    begun.current = true
    import('./oidc')
      .then(({ finishSignIn }) => finishSignIn(oidc))
      .then(({ token, back }) => {
        session.signIn(token)
        return navigate(back.replace(/^\/console/, '') || '/', { replace: true })
      })
      .catch((error: unknown) => {
        setFault({
          code: 'SIGN_IN_FAILED',
          message: error instanceof Error ? error.message : '',
          details: {},
        })
      })
  }, [oidc, session, navigate])
  // Nobody is sent here by a provider that there is not.
  if (!oidc) return <Navigate to="/" replace />
  return fault ? <FaultNotice fault={fault} /> : <Loading />
}
