/** GraphiQL, asking as who is signed in. The schema is the one that the console was built with: none is asked for. */
import 'graphiql/style.css'
import './workbench.css'

import { Stack, Text, Title, useComputedColorScheme } from '@mantine/core'
import { GraphiQL } from 'graphiql'
import { buildSchema } from 'graphql'
import { type RefObject, useEffect, useMemo, useRef } from 'react'
import { useTranslation } from 'react-i18next'

import sdl from '../../../schema.graphql?raw'
import { currentSession } from '../session/current'
import { createFetcher } from './fetcher'

const FIRST = `# Ctrl+Enter runs it, Ctrl+Space proposes what may stand here.
query {
  viewer { displayName kind }
  owners(first: 20) { edges { node { id displayName } } }
}
`

export default function Workbench() {
  const { t } = useTranslation('developers')
  const scheme = useComputedColorScheme('light')
  const schema = useMemo(() => buildSchema(sdl), [])
  const fetcher = useMemo(() => createFetcher(currentSession()), [])
  const frame = useRef<HTMLDivElement>(null)
  useAccess(frame, { query: t('query'), variables: t('variables'), answer: t('answer') })
  return (
    <Stack gap="xs">
      <Title order={1} size="h3">
        {t('title')}
      </Title>
      <Text size="sm">{t('intro')}</Text>
      <div className="workbench" ref={frame}>
        <GraphiQL
          fetcher={fetcher}
          schema={schema}
          storage={window.sessionStorage}
          forcedTheme={scheme}
          isHeadersEditorEnabled={false}
          defaultQuery={FIRST}
        />
      </div>
    </Stack>
  )
}

type Labels = { query: string; variables: string; answer: string }

/** The editors are made without names for those who cannot see them, and without a way to scroll by keyboard. */
function useAccess(frame: RefObject<HTMLDivElement | null>, { query, variables, answer }: Labels) {
  useEffect(() => {
    const root = frame.current
    if (!root) return
    const label = () => {
      for (const [place, name] of [
        ['.graphiql-query-editor', query],
        ['.graphiql-editor-tools, .graphiql-editor-tool', variables],
        ['.result-window', answer],
      ] as const)
        root.querySelectorAll(`:is(${place}) textarea`).forEach((editor) => {
          if (editor.ariaLabel !== name) editor.ariaLabel = name
        })
      // What scrolls can be scrolled by keyboard.
      root.querySelectorAll<HTMLElement>('.CodeMirror-scroll[tabindex="-1"]').forEach((text) => {
        text.tabIndex = 0
      })
    }
    const watch = new MutationObserver(label)
    watch.observe(root, { childList: true, subtree: true })
    label()
    return () => {
      watch.disconnect()
    }
  }, [frame, query, variables, answer])
}
