/** All agents on which the user has a role, by name; they are few, so that they can be searched here. */
import { useEffect } from 'react'

import { graphql } from '../api/graphql'
import { usePages } from '../api/usePages'

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

export function useOwners() {
  const pages = usePages(OWNERS, { after: null }, (data) => data.owners)
  const { hasMore, loadingMore, fault, more } = pages
  useEffect(() => {
    if (hasMore && !loadingMore && !fault) more()
  }, [hasMore, loadingMore, fault, more])
  return pages
}
