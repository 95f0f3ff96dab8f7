/** Asks the server whether it knows a token, before the console keeps it. */
import { Client, fetchExchange } from '@urql/core'

import { GRAPHQL_PATH } from '../api/client'
import { type Fault, faultOf } from '../api/fault'
import { graphql } from '../api/graphql'

const VIEWER = graphql(`
  query SignIn {
    viewer {
      id
      displayName
    }
  }
`)

/** The fault for which a token cannot be used; null if it can. */
export async function refusalOf(token: string): Promise<Fault | null> {
  const client = new Client({
    url: `${window.location.origin}${GRAPHQL_PATH}`,
    preferGetMethod: false,
    fetchOptions: { headers: { Authorization: `Bearer ${token}` } },
    exchanges: [fetchExchange],
  })
  const { error } = await client.query(VIEWER, {}).toPromise()
  return error ? faultOf(error) : null
}
