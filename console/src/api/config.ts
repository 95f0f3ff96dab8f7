/** What the server tells everybody about itself before sign-in. */
export type OidcConfig = {
  issuer: string
  clientId: string
  scopes: string
  bearer: 'id_token' | 'access_token'
  redirectPath: string
}

export type ServerConfig = {
  version: string
  graphiql: boolean
  maxUploadBytes: number
  oidc: OidcConfig | null
}

export async function loadConfig(): Promise<ServerConfig> {
  const response = await fetch('/console/config.json')
  if (!response.ok) throw new Error(`config.json: ${response.status}`)
  return (await response.json()) as ServerConfig
}
