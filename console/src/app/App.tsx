/** Everything that pages take for granted: session, client, theme, texts, routes. */
import { MantineProvider } from '@mantine/core'
import { useMemo } from 'react'
import { RouterProvider } from 'react-router'
import { Provider as ClientProvider } from 'urql'

import { createClient } from '../api/client'
import { SessionContext } from '../session/current'
import type { Session } from '../session/session'
import { ConfigGate } from './ConfigGate'
import { styleNonce } from './nonce'
import { createRoutes } from './routes'
import { SignInAgain } from './SignInAgain'
import { theme } from './theme'

export function App({ session }: { session: Session }) {
  const client = useMemo(() => createClient(session), [session])
  const routes = useMemo(() => createRoutes(), [])
  return (
    <MantineProvider theme={theme} defaultColorScheme="auto" getStyleNonce={styleNonce}>
      <SessionContext value={session}>
        <ClientProvider value={client}>
          <ConfigGate>
            <RouterProvider router={routes} />
            <SignInAgain />
          </ConfigGate>
        </ClientProvider>
      </SessionContext>
    </MantineProvider>
  )
}
