/** How GraphiQL asks: with the token of the session; subscriptions over a WebSocket of their own. */
import { type DocumentNode, getOperationAST, GraphQLError, OperationTypeNode, parse } from 'graphql'
import { createClient } from 'graphql-ws'

import { GRAPHQL_PATH } from '../api/client'
import type { Session } from '../session/session'

export type Asked = { query: string; operationName?: string | null; variables?: Record<string, unknown> }

export type Answer = Record<string, unknown>

export function createFetcher(session: Session, origin: string = window.location.origin) {
  const authorization = () => `Bearer ${session.token() ?? ''}`
  const socket = createClient({
    url: `${origin.replace(/^http/, 'ws')}${GRAPHQL_PATH}`,
    connectionParams: () => ({ Authorization: authorization() }),
  })
  return (asked: Asked): Promise<Answer> | AsyncIterableIterator<Answer> =>
    isSubscription(asked) ? (socket.iterate(asked) as AsyncIterableIterator<Answer>) : post(asked)

  async function post(asked: Asked): Promise<Answer> {
    const response = await fetch(`${origin}${GRAPHQL_PATH}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: authorization() },
      body: JSON.stringify(asked),
    })
    if (response.status === 401) session.expire()
    return (await response.json()) as Answer
  }
}

export function isSubscription({ query, operationName }: Asked): boolean {
  return getOperationAST(parsed(query), operationName)?.operation === OperationTypeNode.SUBSCRIPTION
}

function parsed(query: string): DocumentNode {
  try {
    return parse(query)
  } catch (error) {
    // The server tells what is wrong with it.
    if (error instanceof GraphQLError) return parse('{ __typename }')
    throw error
  }
}
