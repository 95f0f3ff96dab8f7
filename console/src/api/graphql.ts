/** Documents typed from `schema.graphql`: a field that the API does not have is an error of the compiler. */
import { initGraphQLTada } from 'gql.tada'

import type { introspection } from './graphql-env'

export const graphql = initGraphQLTada<{
  introspection: introspection
  scalars: {
    /** RFC 3339 in UTC. */
    DateTime: string
    /** RFC 3339 in the zone of who told it. */
    ZonedDateTime: string
    JSON: unknown
    Long: number
    Upload: File
  }
}>()

export { readFragment } from 'gql.tada'
export type { FragmentOf, ResultOf, VariablesOf } from 'gql.tada'
