/** What was believed of several entries at two moments; what was asked for other entries or moments is not shown. */
import { useEffect, useState } from 'react'
import { useClient } from 'urql'

import { type Fault, faultOf } from '../../api/fault'
import { type Belief, beliefOf } from './differences'
import { BELIEFS } from './queries'

export type Pair = { id: string; then: Belief | null; later: Belief | null }

export type Beliefs = { pairs: readonly Pair[] | undefined; fault: Fault | undefined }

/** Times are RFC 3339; an empty `later` is now. */
export function useBeliefs(ids: readonly string[], then: string, later: string): Beliefs {
  const client = useClient()
  const key = JSON.stringify([ids, then, later])
  const [found, setFound] = useState<Beliefs & { key: string }>({
    key: '',
    pairs: undefined,
    fault: undefined,
  })
  useEffect(() => {
    let wanted = true
    const ask = async (id: string) => {
      const variables = { id, then: { recorded: then }, later: later === '' ? null : { recorded: later } }
      const { data, error } = await client.query(BELIEFS, variables).toPromise()
      if (error) throw error
      return pairOf(id, data, then, later)
    }
    Promise.all(ids.map(ask)).then(
      (pairs) => wanted && setFound({ key, pairs, fault: undefined }),
      (error: unknown) =>
        wanted && setFound({ key, pairs: undefined, fault: faultOf(error as Parameters<typeof faultOf>[0]) }),
    )
    return () => {
      wanted = false
    }
    // eslint-disable-next-line react-hooks/exhaustive-deps -- the key stands for ids and moments
  }, [client, key])
  return found.key === key ? found : { pairs: undefined, fault: undefined }
}

function pairOf(
  id: string,
  data: { then: Parameters<typeof beliefOf>[0]; later: Parameters<typeof beliefOf>[0] } | undefined,
  then: string,
  later: string,
): Pair {
  return {
    id,
    then: beliefOf(data?.then ?? null, Date.parse(then)),
    later: beliefOf(data?.later ?? null, later === '' ? Date.now() : Date.parse(later)),
  }
}
