import '@mantine/core/styles.css'
import './app/console.css'

import { createRoot } from 'react-dom/client'

import { App } from './app/App'
import { allowStyles } from './app/nonce'
import { startTexts } from './i18n'
import { currentSession } from './session/current'

async function start(root: HTMLElement): Promise<void> {
  allowStyles()
  await startTexts()
  createRoot(root).render(<App session={currentSession()} />)
}

const root = document.getElementById('root')
if (root) void start(root)
