import { act, renderHook, waitFor } from '@testing-library/react'
import type { ReactNode } from 'react'
import { Provider } from 'urql'
import { expect, it } from 'vitest'

import { createClient } from '../../api/client'
import { Session } from '../../session/session'
import { useBeliefs } from './useBeliefs'

/** A server whose answers come when the test says so: nothing is known of any entry. */
function held(): { asked: (() => void)[]; wrapper: (props: { children: ReactNode }) => ReactNode } {
  const asked: (() => void)[] = []
  globalThis.fetch = () =>
    new Promise((answered) => {
      asked.push(() => {
        answered(
          new Response(JSON.stringify({ data: { then: null, later: null } }), {
            headers: { 'content-type': 'application/json' },
          }),
        )
      })
    })
  const client = createClient(new Session(window.sessionStorage), 'http://localhost')
  return { asked, wrapper: ({ children }) => <Provider value={client}>{children}</Provider> }
}

const ids = (count: number): string[] => Array.from({ length: count }, (_, at) => `id${at}`)

it('asks about some of many entries at a time, and shows these meanwhile', async () => {
  const { asked, wrapper } = held()
  const { result } = renderHook(() => useBeliefs(ids(45), '2025-05-01T00:00:00Z', ''), { wrapper })
  for (const known of [20, 40, 45]) {
    await waitFor(() => {
      expect(asked).toHaveLength(known)
    })
    act(() => {
      asked.forEach((answer) => {
        answer()
      })
    })
    await waitFor(() => {
      expect(result.current.pairs).toHaveLength(known)
    })
  }
  expect(result.current.loading).toBe(false)
})

it('asks nothing twice when more entries are wanted meanwhile', async () => {
  const { asked, wrapper } = held()
  const { result, rerender } = renderHook(({ wanted }) => useBeliefs(wanted, '2025-05-01T00:00:00Z', ''), {
    wrapper,
    initialProps: { wanted: ids(20) },
  })
  await waitFor(() => {
    expect(asked).toHaveLength(20)
  })
  rerender({ wanted: ids(30) })
  act(() => {
    asked.forEach((answer) => {
      answer()
    })
  })
  await waitFor(() => {
    expect(asked).toHaveLength(30)
  })
  expect(result.current.pairs).toHaveLength(20)
})
