/** Reads of a page. What is shown always belongs to the variables of now, also if an older answer comes late (CO-3). */
import { type AnyVariables, createRequest, type TypedDocumentNode } from '@urql/core'
import { useCallback, useEffect, useRef, useState } from 'react'
import { useQuery } from 'urql'

import { useSessionState } from '../session/current'
import { type Fault, faultOf, passes } from './fault'

export type Read<D> = {
  data: D | undefined
  fault: Fault | undefined
  /** Why it could not be read again just now; what was read before stays, with all that is typed on it (CO-8). */
  lost: Fault | undefined
  loading: boolean
  /** Ask again; what is there stays until the answer. */
  reload: () => void
}

export function useRead<D, V extends AnyVariables>(
  query: TypedDocumentNode<D, V>,
  variables: V,
  options: { pause?: boolean; everyMs?: number } = {},
): Read<D> {
  const [result, execute] = useQuery<D, V>({ query, variables, pause: options.pause ?? false })
  const wanted = createRequest(query, variables).key
  const mine = result.operation?.key === wanted
  const reload = useCallback(() => {
    execute()
  }, [execute])
  useAgainAfterSignIn(reload)
  useEvery(reload, options.everyMs)
  const [kept, setKept] = useState<{ key: number; data: D }>()
  if (mine && result.data !== undefined && result.data !== kept?.data) {
    setKept({ key: wanted, data: result.data })
  }
  const fault = mine && result.error && !result.data ? faultOf(result.error) : undefined
  const before = kept?.key === wanted && fault && passes(fault) ? kept.data : undefined
  return {
    data: mine ? (result.data ?? before) : undefined,
    fault: before === undefined ? fault : undefined,
    lost: before === undefined ? undefined : fault,
    loading: !options.pause && (!mine || result.fetching),
    reload,
  }
}

function useAgainAfterSignIn(reload: () => void): void {
  const { generation } = useSessionState()
  const seen = useRef(generation)
  useEffect(() => {
    if (seen.current === generation) return
    seen.current = generation
    reload()
  }, [generation, reload])
}

function useEvery(reload: () => void, everyMs: number | undefined): void {
  useEffect(() => {
    if (everyMs === undefined) return undefined
    const timer = window.setInterval(reload, everyMs)
    return () => {
      window.clearInterval(timer)
    }
  }, [reload, everyMs])
}
