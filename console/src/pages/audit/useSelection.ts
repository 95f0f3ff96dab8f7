/** Which records are selected; thousands are only ids here, never rows of the page (CO-55). */
import { useCallback, useMemo, useRef, useState } from 'react'
import { useClient } from 'urql'

import { type Fault, faultOf } from '../../api/fault'
import { MATCHING } from './documents'
import type { AuditFilter } from './filters'

/** The most records that one restore takes. */
export const MOST = 1000

export type Selection = {
  has: (id: string) => boolean
  size: number
  /** Newest first, at most so many as a restore takes. */
  newest: () => string[]
  toggle: (id: string, recordedAt: string, on: boolean) => void
  clear: () => void
  /** Selects all that match and can be undone; goes on until done or stopped. */
  everything: () => void
  stop: () => void
  collecting: boolean
  fault: Fault | undefined
}

export function useSelection(filter: AuditFilter): Selection {
  const client = useClient()
  const [chosen, setChosen] = useState<ReadonlyMap<string, string>>(new Map())
  const [collecting, setCollecting] = useState(false)
  const [fault, setFault] = useState<Fault>()
  const turn = useRef(0)

  const stop = useCallback(() => {
    turn.current += 1
    setCollecting(false)
  }, [])
  const everything = useCallback(() => {
    const mine = (turn.current += 1)
    const found = new Map<string, string>()
    const go = async (after: string | null): Promise<void> => {
      const { data, error } = await client.query(MATCHING, { filter, after }).toPromise()
      if (turn.current !== mine) return
      for (const { node } of data?.auditLog.edges ?? [])
        if (node.restorable) found.set(node.id, node.recordedAt)
      setChosen(new Map(found))
      if (error) setFault(faultOf(error))
      const info = data?.auditLog.pageInfo
      if (info?.hasNextPage) await go(info.endCursor)
    }
    setFault(undefined)
    setCollecting(true)
    void go(null).finally(() => {
      if (turn.current === mine) setCollecting(false)
    })
  }, [client, filter])
  const toggle = useCallback((id: string, recordedAt: string, on: boolean) => {
    setChosen((before) => {
      const after = new Map(before)
      if (on) after.set(id, recordedAt)
      else after.delete(id)
      return after
    })
  }, [])
  const clear = useCallback(() => {
    stop()
    setChosen(new Map())
  }, [stop])

  return useMemo(
    () => ({
      has: (id) => chosen.has(id),
      size: chosen.size,
      newest: () => newest(chosen),
      toggle,
      clear,
      everything,
      stop,
      collecting,
      fault,
    }),
    [chosen, toggle, clear, everything, stop, collecting, fault],
  )
}

/** Times are of one form, so that their texts are in their order. */
export function newest(chosen: ReadonlyMap<string, string>, most: number = MOST): string[] {
  const ordered = [...chosen].sort(([, one], [, other]) => (one < other ? 1 : one > other ? -1 : 0))
  return ordered.slice(0, most).map(([id]) => id)
}
