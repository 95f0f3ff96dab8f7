/** What the relation explorer asks of the API. */
import { graphql, type ResultOf } from '../../api/graphql'
import { CITATION } from '../../ui/Citations'

export const NEIGHBORHOOD = graphql(
  `
    query Neighborhood($id: ID!, $depth: Int!, $types: [String!], $asOf: AsOf) {
      neighborhood(entryId: $id, depth: $depth, types: $types, asOf: $asOf) {
        truncated
        neighbours {
          depth
          entry {
            id
            name
            type
            createdAt
          }
        }
        relations {
          id
          type
          validFrom
          validTo
          fromPrecision
          toPrecision
          stale
          subject {
            id
            name
          }
          object {
            id
            name
          }
          evidence {
            ...CitationParts
          }
        }
      }
    }
  `,
  [CITATION],
)

export type Neighborhood = ResultOf<typeof NEIGHBORHOOD>['neighborhood']
export type Relation = Neighborhood['relations'][number]
