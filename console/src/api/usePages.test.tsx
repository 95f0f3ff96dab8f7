import { act, renderHook, waitFor } from '@testing-library/react'
import type { ReactNode } from 'react'
import { Provider } from 'urql'
import { expect, it } from 'vitest'

import { SessionContext } from '../session/current'
import { Session } from '../session/session'
import { createClient } from './client'
import { graphql } from './graphql'
import { usePages } from './usePages'

const OWNERS = graphql(`
  query OwnersInTest($after: String) {
    owners(first: 1, after: $after) {
      totalCount
      pageInfo {
        hasNextPage
        endCursor
      }
      edges {
        node {
          id
        }
      }
    }
  }
`)

type Asked = { after: string | null; answer: (id: string, next: string | null) => void }

/** A server whose answers come when the test says so. */
function held(): { asked: Asked[]; wrapper: (props: { children: ReactNode }) => ReactNode } {
  const asked: Asked[] = []
  globalThis.fetch = (_, init) =>
    new Promise((answered) => {
      const { variables } = JSON.parse(init?.body as string) as { variables: { after?: string | null } }
      const answer = (id: string, next: string | null) => {
        const owners = {
          totalCount: 3,
          pageInfo: { hasNextPage: next !== null, endCursor: next },
          edges: [{ node: { id } }],
        }
        answered(
          new Response(JSON.stringify({ data: { owners } }), {
            headers: { 'content-type': 'application/json' },
          }),
        )
      }
      asked.push({ after: variables.after ?? null, answer })
    })
  const session = new Session(window.sessionStorage)
  const client = createClient(session, 'http://localhost')
  const wrapper = ({ children }: { children: ReactNode }) => (
    <SessionContext value={session}>
      <Provider value={client}>{children}</Provider>
    </SessionContext>
  )
  return { asked, wrapper }
}

const ids = (rows: readonly { id: string }[] | undefined) => rows?.map(({ id }) => id)

it('adds a page, and drops one that comes after everything was read again', async () => {
  const { asked, wrapper } = held()
  const { result } = renderHook(() => usePages(OWNERS, { after: null }, (data) => data.owners), { wrapper })
  await waitFor(() => expect(asked).toHaveLength(1))
  act(() => asked[0]?.answer('a', '1'))
  await waitFor(() => expect(ids(result.current.rows)).toEqual(['a']))

  act(() => result.current.more())
  await waitFor(() => expect(asked).toHaveLength(2))
  expect(asked[1]?.after).toBe('1')
  act(() => asked[1]?.answer('b', '2'))
  await waitFor(() => expect(ids(result.current.rows)).toEqual(['a', 'b']))

  act(() => result.current.more())
  await waitFor(() => expect(asked).toHaveLength(3))
  expect(result.current.loadingMore).toBe(true)
  act(() => result.current.reload())
  expect(result.current.loadingMore).toBe(false)
  await waitFor(() => expect(asked).toHaveLength(4))
  act(() => asked[2]?.answer('late', null))
  act(() => asked[3]?.answer('new', '1'))
  await waitFor(() => expect(ids(result.current.rows)).toEqual(['new']))
})
