/** The one way to the server: GraphQL with the user's own token (CO-4). Nothing is cached: rights may change. */
import {
  Client,
  type ExecutionResult,
  fetchExchange,
  formatDocument,
  makeOperation,
  mapExchange,
  subscriptionExchange,
} from '@urql/core'
import { createClient as createSocket } from 'graphql-ws'

import type { Session } from '../session/session'
import { asksForSignIn } from './fault'

export const GRAPHQL_PATH = '/graphql'

export function createClient(session: Session, origin: string = window.location.origin): Client {
  const socket = createSocket({
    url: () => `${origin.replace(/^http/, 'ws')}${GRAPHQL_PATH}`,
    connectionParams: () => ({ Authorization: `Bearer ${session.token() ?? ''}` }),
    retryAttempts: Number.POSITIVE_INFINITY,
    shouldRetry: () => session.token() !== null,
  })
  return new Client({
    url: `${origin}${GRAPHQL_PATH}`,
    preferGetMethod: false,
    requestPolicy: 'network-only',
    fetchOptions: () => ({ headers: headersFor(session) }),
    exchanges: [
      mapExchange({
        // Every object says its type, so that pages can tell kinds of nodes apart.
        onOperation: (operation) =>
          makeOperation(
            operation.kind,
            { ...operation, query: formatDocument(operation.query) },
            operation.context,
          ),
        onError(error) {
          if (asksForSignIn(error)) session.expire()
        },
      }),
      fetchExchange,
      subscriptionExchange({
        forwardSubscription: (request) => ({
          subscribe: (sink) => ({
            unsubscribe: socket.subscribe(
              { ...request, query: request.query ?? '' },
              {
                ...sink,
                next: (value) => {
                  sink.next(value as ExecutionResult)
                },
              },
            ),
          }),
        }),
      }),
    ],
  })
}

function headersFor(session: Session): Record<string, string> {
  const token = session.token()
  return token === null ? {} : { Authorization: `Bearer ${token}` }
}
