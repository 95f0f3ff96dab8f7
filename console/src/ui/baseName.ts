/** What a knowledge base is called: its kind, and the name of its channel or private chat. */
import { useTranslation } from 'react-i18next'

import { type FragmentOf, graphql, readFragment } from '../api/graphql'
import { named } from './invisible'

export const BASE = graphql(`
  fragment BaseName on KnowledgeBase {
    kind
    channel {
      displayName
    }
  }
`)

export function useBaseName(): (base: FragmentOf<typeof BASE>) => string {
  const { t } = useTranslation('ui')
  return (masked) => {
    const base = readFragment(BASE, masked)
    const kind = t(`kb.${base.kind}`)
    return base.channel ? `${kind} · ${named(base.channel.displayName)}` : kind
  }
}
