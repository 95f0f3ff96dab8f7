/** Changes: one call at a time; a failed one leaves its fault and everything that was typed (CO-8). */
import type { AnyVariables, TypedDocumentNode } from '@urql/core'
import { useCallback, useRef, useState } from 'react'
import { useClient } from 'urql'

import { type Fault, faultOf } from './fault'

export type Write<D, V> = {
  /** The answer; null if the server refused, as `fault` says, or if the call before is still under way. */
  run: (variables: V) => Promise<D | null>
  busy: boolean
  fault: Fault | undefined
  forget: () => void
}

export function useWrite<D, V extends AnyVariables>(mutation: TypedDocumentNode<D, V>): Write<D, V> {
  const client = useClient()
  const [busy, setBusy] = useState(false)
  const [fault, setFault] = useState<Fault>()
  const under = useRef(false)
  const run = useCallback(
    async (variables: V) => {
      // A second press comes before the button can show that the first one is at work.
      if (under.current) return null
      under.current = true
      setBusy(true)
      setFault(undefined)
      const { data, error } = await client.mutation(mutation, variables).toPromise()
      under.current = false
      setBusy(false)
      if (error) setFault(faultOf(error))
      return error ? null : (data ?? null)
    },
    [client, mutation],
  )
  const forget = useCallback(() => {
    setFault(undefined)
  }, [])
  return { run, busy, fault, forget }
}
