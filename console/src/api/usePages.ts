/** Lists of the API, 20 rows at a time, more by cursor (CO-7). */
import { type AnyVariables, createRequest, type TypedDocumentNode } from '@urql/core'
import { useCallback, useState } from 'react'
import { useClient } from 'urql'

import { type Fault, faultOf } from './fault'
import { type Read, useRead } from './useRead'

export type Connection<N> = {
  edges: readonly { node: N }[]
  pageInfo: { hasNextPage: boolean; endCursor: string | null }
  totalCount: number
}

export type Pages<N> = {
  rows: readonly N[] | undefined
  totalCount: number | undefined
  hasMore: boolean
  loading: boolean
  loadingMore: boolean
  fault: Fault | undefined
  more: () => void
  reload: () => void
}

type Later<N> = { key: number; pages: readonly Connection<N>[]; busy: boolean; fault?: Fault | undefined }

/** `connection` picks the list out of an answer; the query takes `$after`. */
export function usePages<D, V extends AnyVariables & { after?: string | null }, N>(
  query: TypedDocumentNode<D, V>,
  variables: V,
  connection: (data: D) => Connection<N> | null | undefined,
  options: { pause?: boolean; everyMs?: number } = {},
): Pages<N> {
  const client = useClient()
  const first = useRead(query, variables, options)
  const { key } = createRequest(query, variables)
  const [later, setLater] = useState<Later<N>>({ key, pages: [], busy: false })
  const mine: Later<N> = later.key === key ? later : { key, pages: [], busy: false }
  const head = first.data === undefined ? undefined : (connection(first.data) ?? undefined)
  const last = mine.pages.at(-1) ?? head
  const more = useCallback(() => {
    const after = last?.pageInfo.endCursor
    if (after === null || after === undefined) return
    const keep = (change: Partial<Later<N>>) => {
      setLater((now) => ({
        ...(now.key === key ? now : { pages: [] }),
        busy: false,
        fault: undefined,
        ...change,
        key,
      }))
    }
    keep({ busy: true })
    void client
      .query(query, { ...variables, after })
      .toPromise()
      .then(({ data, error }) => {
        const page = data === undefined ? undefined : connection(data)
        if (error || !page) keep({ fault: error && faultOf(error) })
        else setLater((now) => (now.key === key ? { key, pages: [...now.pages, page], busy: false } : now))
      })
    // eslint-disable-next-line react-hooks/exhaustive-deps -- the key stands for query and variables
  }, [client, key, last])
  const { reload: again } = first
  const reload = useCallback(() => {
    setLater({ key, pages: [], busy: false })
    again()
  }, [key, again])
  return { ...shown(first, head, mine), more, reload }
}

function shown<D, N>(
  first: Read<D>,
  head: Connection<N> | undefined,
  later: Later<N>,
): Omit<Pages<N>, 'more' | 'reload'> {
  const pages = head === undefined ? [] : [head, ...later.pages]
  return {
    rows: head && pages.flatMap((page) => page.edges.map((edge) => edge.node)),
    totalCount: head?.totalCount,
    hasMore: pages.at(-1)?.pageInfo.hasNextPage ?? false,
    loading: first.loading,
    loadingMore: later.busy,
    fault: first.fault ?? later.fault,
  }
}
