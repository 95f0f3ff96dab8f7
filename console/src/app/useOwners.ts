/** All agents on which the user has a role, by name; they are few, so that they can be searched here. */
import { graphql } from '../api/graphql'
import { useAllPages, usePages } from '../api/usePages'

export const OWNERS = graphql(`
  query Owners($after: String) {
    owners(first: 100, after: $after) {
      totalCount
      pageInfo {
        hasNextPage
        endCursor
      }
      edges {
        node {
          id
          displayName
          viewerRights
        }
      }
    }
  }
`)

export const useOwners = () => useAllPages(usePages(OWNERS, { after: null }, (data) => data.owners))
