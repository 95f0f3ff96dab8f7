/** Lists of the API, 20 rows at a time, more by cursor (CO-7). */
import { type AnyVariables, createRequest, type TypedDocumentNode } from '@urql/core'
import { useCallback, useEffect, useState } from 'react'
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
  /** Why rows could not be read, or not be read again: those that are there stay (CO-8). */
  fault: Fault | undefined
  /** Asks once more for what failed. */
  retry: () => void
  more: () => void
  reload: () => void
}

type Later<N> = {
  key: number
  pages: readonly Connection<N>[]
  /** The question that is under way; the answer to any other is not taken. */
  asked: symbol | null
  fault?: Fault | undefined
}

const NOTHING = { pages: [], asked: null }

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
  const [later, setLater] = useState<Later<N>>({ key, ...NOTHING })
  const mine: Later<N> = later.key === key ? later : { key, ...NOTHING }
  const head = first.data === undefined ? undefined : (connection(first.data) ?? undefined)
  const last = mine.pages.at(-1) ?? head
  const more = useCallback(() => {
    const after = last?.pageInfo.endCursor
    if (after === null || after === undefined) return
    const asked = Symbol()
    setLater((now) => ({ key, pages: now.key === key ? now.pages : [], asked }))
    void client
      .query(query, { ...variables, after })
      .toPromise()
      .then(({ data, error }) => {
        const page = data === undefined ? undefined : connection(data)
        setLater((now) => {
          if (now.asked !== asked) return now
          if (error || !page) return { ...now, asked: null, fault: error && faultOf(error) }
          return { key, pages: [...now.pages, page], asked: null }
        })
      })
    // eslint-disable-next-line react-hooks/exhaustive-deps -- the key stands for query and variables
  }, [client, key, last])
  const { reload: again } = first
  const reload = useCallback(() => {
    setLater({ key, ...NOTHING })
    again()
  }, [key, again])
  const retry = mine.fault && !first.fault && !first.lost ? more : reload
  return { ...shown(first, head, mine), retry, more, reload }
}

/** The same with all rows, page by page without being asked: for lists that are few. */
export function useAllPages<N>(pages: Pages<N>): Pages<N> {
  const { hasMore, loadingMore, fault, more } = pages
  useEffect(() => {
    if (hasMore && !loadingMore && !fault) more()
  }, [hasMore, loadingMore, fault, more])
  return pages
}

function shown<D, N>(
  first: Read<D>,
  head: Connection<N> | undefined,
  later: Later<N>,
): Omit<Pages<N>, 'retry' | 'more' | 'reload'> {
  const pages = head === undefined ? [] : [head, ...later.pages]
  return {
    rows: head && pages.flatMap((page) => page.edges.map((edge) => edge.node)),
    totalCount: head?.totalCount,
    hasMore: pages.at(-1)?.pageInfo.hasNextPage ?? false,
    loading: first.loading,
    loadingMore: later.asked !== null,
    fault: first.fault ?? first.lost ?? later.fault,
  }
}
