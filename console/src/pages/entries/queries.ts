import { graphql } from '../../api/graphql'
import { BASE } from '../../ui/baseName'

export const ENTRIES = graphql(
  `
    query Entries($owner: ID!, $filter: EntryFilter, $after: String) {
      entries(ownerId: $owner, filter: $filter, first: 20, after: $after) {
        totalCount
        pageInfo {
          hasNextPage
          endCursor
        }
        edges {
          node {
            id
            name
            type
            summary
            readOnly
            updatedAt
            lastModifier {
              id
              kind
              displayName
            }
            knowledgeBase {
              id
              ...BaseName
            }
            marks {
              blocks
              disputed
              stale
            }
          }
        }
      }
    }
  `,
  [BASE],
)

export const CHOICES = graphql(
  `
    query EntryChoices($owner: ID!) {
      entryTypes(ownerId: $owner)
      entryAuthors(ownerId: $owner) {
        id
        displayName
      }
      knowledgeBases(ownerId: $owner, first: 100) {
        edges {
          node {
            id
            writable
            ...BaseName
          }
        }
      }
    }
  `,
  [BASE],
)
