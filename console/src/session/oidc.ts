/** Sign-in at an identity provider: authorization code with PKCE; only the token that the API takes is kept. */
import { UserManager, WebStorageStateStore } from 'oidc-client-ts'

import type { OidcConfig } from '../api/config'

function manager(config: OidcConfig): UserManager {
  const store = new WebStorageStateStore({ store: window.sessionStorage })
  return new UserManager({
    authority: config.issuer,
    client_id: config.clientId,
    redirect_uri: `${window.location.origin}${config.redirectPath}`,
    scope: config.scopes,
    response_mode: 'query',
    loadUserInfo: false,
    stateStore: store,
    userStore: store,
  })
}

/** Leaves the page; the provider sends the browser back to `redirectPath`. */
export async function startSignIn(config: OidcConfig): Promise<void> {
  await manager(config).signinRedirect({ state: window.location.pathname + window.location.search })
}

/** The token to send as Bearer, and where the user was. */
export async function finishSignIn(config: OidcConfig): Promise<{ token: string; back: string }> {
  const made = manager(config)
  const user = await made.signinRedirectCallback()
  await made.removeUser()
  const token = config.bearer === 'id_token' ? user.id_token : user.access_token
  if (token === undefined) throw new Error('the provider sent no token')
  return { token, back: typeof user.state === 'string' ? user.state : '/console/' }
}
