/** Asks the rules that bind agents about words that a person is about to save; he is warned once and may go on (CO-18). */
import { useCallback, useRef, useState } from 'react'
import { useClient } from 'urql'

import { graphql, type ResultOf } from '../api/graphql'
import { useOwner } from '../app/owner'

const WARNINGS = graphql(`
  query DraftWarnings($owner: ID!, $name: String, $type: String, $text: String) {
    draftWarnings(ownerId: $owner, name: $name, type: $type, text: $text)
  }
`)

export type Draft = { name?: string; type?: string; text?: string }
export type DraftWarning = ResultOf<typeof WARNINGS>['draftWarnings'][number]

export type DraftCheck = {
  warnings: readonly DraftWarning[]
  /** Whether these words may be saved: nothing is odd about them, or the user was warned of these very words; not while
   *  the question before is open. */
  allows: (draft: Draft) => Promise<boolean>
}

export function useDraftCheck(): DraftCheck {
  const client = useClient()
  const owner = useOwner()
  const [warned, setWarned] = useState<{ of: string; warnings: readonly DraftWarning[] }>()
  const asking = useRef(false)
  const allows = useCallback(
    async (draft: Draft) => {
      const of = JSON.stringify(draft)
      if (warned?.of === of) return true
      if (asking.current) return false
      asking.current = true
      const { data } = await client.query(WARNINGS, { owner: owner.id, ...draft }).toPromise()
      asking.current = false
      const warnings = data?.draftWarnings ?? []
      setWarned(warnings.length > 0 ? { of, warnings } : undefined)
      return warnings.length === 0
    },
    [client, owner.id, warned],
  )
  return { warnings: warned?.warnings ?? [], allows }
}
