/** What was believed of several entries at two moments; what was asked for other moments is not shown. */
import { useCallback, useEffect, useState } from 'react'
import { type Client, type CombinedError, useClient } from 'urql'

import { type Fault, faultOf } from '../../api/fault'
import { type Belief, beliefOf } from './differences'
import { BELIEFS } from './queries'

export type Pair = {
  id: string
  then: Belief | null
  later: Belief | null
  /** Whose it is; undefined if it was never there. */
  owner: string | undefined
  /** Whether it has more relations than are compared. */
  cut: boolean
}

export type Beliefs = {
  /** Those that are known so far, in the order of the ids. */
  pairs: readonly Pair[]
  /** Whether any is still to come. */
  loading: boolean
  fault: Fault | undefined
  retry: () => void
}

type Kept = { moments: string; pairs: ReadonlyMap<string, Pair>; fault: Fault | undefined }

/** Entries that are asked about at the same time: of years, thousands may have been deleted. */
const AT_ONCE = 20

/** Times are RFC 3339; an empty `later` is now. More ids cost only the questions about these. */
export function useBeliefs(ids: readonly string[], then: string, later: string): Beliefs {
  const client = useClient()
  const moments = `${then} ${later}`
  const [kept, setKept] = useState<Kept>({ moments, pairs: new Map(), fault: undefined })
  const known = kept.moments === moments ? kept.pairs : new Map<string, Pair>()
  const fault = kept.moments === moments ? kept.fault : undefined
  const missing = ids
    .filter((id) => !known.has(id))
    .slice(0, AT_ONCE)
    .join('\n')
  useEffect(() => {
    if (missing === '' || fault) return undefined
    let wanted = true
    Promise.all(missing.split('\n').map((id) => pairOf(client, id, then, later))).then(
      (found) => wanted && setKept((now) => withPairs(now, moments, found)),
      (error: unknown) =>
        wanted && setKept({ moments, pairs: known, fault: faultOf(error as CombinedError) }),
    )
    return () => {
      wanted = false
    }
    // eslint-disable-next-line react-hooks/exhaustive-deps -- what is missing stands for what is known
  }, [client, missing, moments, fault])
  const retry = useCallback(() => setKept((now) => ({ ...now, fault: undefined })), [])
  return {
    pairs: ids.flatMap((id) => known.get(id) ?? []),
    loading: missing !== '' && !fault,
    fault,
    retry,
  }
}

function withPairs(now: Kept, moments: string, found: readonly Pair[]): Kept {
  const before = now.moments === moments ? now.pairs : []
  return {
    moments,
    pairs: new Map([...before, ...found.map((one) => [one.id, one] as const)]),
    fault: undefined,
  }
}

async function pairOf(client: Client, id: string, then: string, later: string): Promise<Pair> {
  const variables = { id, then: { recorded: then }, later: later === '' ? null : { recorded: later } }
  const { data, error } = await client.query(BELIEFS, variables).toPromise()
  if (error) throw error
  const told = [data?.then ?? null, data?.later ?? null]
  return {
    id,
    then: beliefOf(told[0] ?? null, Date.parse(then)),
    later: beliefOf(told[1] ?? null, later === '' ? Date.now() : Date.parse(later)),
    owner: told.find((one) => one !== null)?.owner.id,
    cut: told.some((one) => one?.relations.pageInfo.hasNextPage ?? false),
  }
}
