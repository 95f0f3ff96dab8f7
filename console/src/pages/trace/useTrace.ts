/** The state of one trace: what is known, what is open, and the calls that fetch more. */
import { useCallback, useMemo, useState } from 'react'
import { useClient } from 'urql'

import { type Fault, faultOf } from '../../api/fault'
import { useRead } from '../../api/useRead'
import {
  type Answer,
  type Direction,
  firstOpen,
  hidden,
  type Known,
  learn,
  nothing,
  oneHopLess,
  shown,
  type Shown,
  without,
} from './graph'
import { isWork } from './labels'
import { PROVENANCE, type TraceNode } from './queries'

const FIRST_DEPTH = 4

export type Trace = {
  known: Known<TraceNode>
  view: Shown
  /** By node: how many of its neighbours are known and not shown. */
  hidden: ReadonlyMap<string, number>
  open: ReadonlySet<string>
  fault: Fault | undefined
  missing: boolean
  loading: boolean
  busy: boolean
  /** Show what is next to a node; asks the server where that is not known. */
  expand: (id: string) => void
  shrink: (id: string) => void
  expandAll: () => void
  shrinkAll: () => void
  reload: () => void
}

type Grown = {
  more: readonly { answer: Answer<TraceNode>; about: string }[]
  open: ReadonlySet<string> | null
}

/** `work` says whether Dreaming runs and audit records are shown too, beside the evidence. */
export function useTrace(root: string, direction: Direction, work: boolean): Trace {
  const client = useClient()
  const first = useRead(PROVENANCE, { id: root, depth: FIRST_DEPTH, direction })
  const [grown, setGrown] = useState<Grown>({ more: [], open: null })
  const [busy, setBusy] = useState(false)
  const [fault, setFault] = useState<Fault>()
  const answer = first.data?.provenance
  const start = useMemo(
    () =>
      answer
        ? learn(nothing<TraceNode>(answer.root.id, direction), answer, [])
        : nothing<TraceNode>(root, direction),
    [answer, root, direction],
  )
  const kept = useCallback((all: Known<TraceNode>) => (work ? all : without(all, isWork)), [work])
  const known = useMemo(
    () => kept(grown.more.reduce((all, one) => learn(all, one.answer, [one.about]), start)),
    [kept, grown.more, start],
  )
  const open = useMemo(() => grown.open ?? firstOpen(kept(start)), [grown.open, kept, start])
  const view = useMemo(() => shown(known, open), [known, open])
  const behind = useMemo(() => hidden(known, view), [known, view])

  const setOpen = (next: ReadonlySet<string>) => {
    setGrown((now) => ({ ...now, open: next }))
  }
  const ask = useCallback(
    async (ids: readonly string[]) => {
      setBusy(true)
      setFault(undefined)
      const found = await Promise.all(
        ids.map((id) =>
          client
            .query(PROVENANCE, { id, depth: 1, direction })
            .toPromise()
            .then((result) => ({ id, ...result })),
        ),
      )
      setBusy(false)
      const failed = found.find((one) => one.error)?.error
      if (failed) setFault(faultOf(failed))
      const more = found.flatMap(({ id, data }) => (data ? [{ answer: data.provenance, about: id }] : []))
      setGrown((now) => ({ ...now, more: [...now.more, ...more] }))
    },
    [client, direction],
  )
  const widen = (ids: readonly string[]) => {
    setOpen(new Set([...open, ...ids]))
    const unknown = ids.filter((id) => !known.told.has(id)).slice(0, MOST_AT_ONCE)
    if (unknown.length > 0) void ask(unknown)
  }
  return {
    known,
    view,
    hidden: behind,
    open,
    fault: first.fault ?? fault,
    missing: first.fault?.code === 'NOT_FOUND',
    loading: first.data === undefined && first.loading,
    busy,
    expand: (id) => widen([id]),
    shrink: (id) => setOpen(new Set([...open].filter((one) => one !== id))),
    expandAll: () => widen([...view.hops.keys()].filter((id) => !open.has(id))),
    shrinkAll: () => setOpen(oneHopLess(known, open)),
    reload: first.reload,
  }
}

/** Nodes whose neighbours are asked for by one click; the others can be clicked again. */
const MOST_AT_ONCE = 10
