/** The session of this tab, made when it is first asked for. */
import { createContext, use, useSyncExternalStore } from 'react'

import { Session, type SessionState } from './session'

let current: Session | undefined

export function currentSession(): Session {
  current ??= new Session(window.sessionStorage)
  return current
}

export const SessionContext = createContext<Session | null>(null)

export function useSession(): Session {
  const session = use(SessionContext)
  if (session === null) throw new Error('useSession outside of SessionContext')
  return session
}

export function useSessionState(): SessionState {
  const session = useSession()
  return useSyncExternalStore(session.subscribe, session.snapshot)
}
