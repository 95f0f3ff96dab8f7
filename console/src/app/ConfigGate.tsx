/** Asks the server what it offers before anything is shown; goes on with the least if it does not say. */
import { createContext, type ReactNode, use, useEffect, useState } from 'react'

import { loadConfig, type ServerConfig } from '../api/config'

const LEAST: ServerConfig = { version: '', graphiql: false, maxUploadBytes: 50 * 1024 * 1024, oidc: null }

const ConfigContext = createContext<ServerConfig>(LEAST)

export const useConfig = (): ServerConfig => use(ConfigContext)

export function ConfigGate({ children }: { children: ReactNode }) {
  const [config, setConfig] = useState<ServerConfig>()
  useEffect(() => {
    loadConfig().then(setConfig, () => {
      setConfig(LEAST)
    })
  }, [])
  return config === undefined ? null : <ConfigContext value={config}>{children}</ConfigContext>
}
