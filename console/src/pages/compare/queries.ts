/** What the comparison asks of the API. */
import { graphql, type ResultOf } from '../../api/graphql'

export const BELIEFS = graphql(`
  query Beliefs($id: ID!, $then: AsOf!, $later: AsOf) {
    then: entry(id: $id, asOf: $then) {
      id
      name
      type
      summary
      aliases
      createdAt
      deletedAt
      blocks(asOf: $then) {
        id
        current {
          id
          text
        }
      }
      relations(asOf: $then, first: 100) {
        edges {
          node {
            id
            type
            subject {
              name
            }
            object {
              name
            }
          }
        }
      }
    }
    later: entry(id: $id, asOf: $later) {
      id
      name
      type
      summary
      aliases
      createdAt
      deletedAt
      blocks(asOf: $later) {
        id
        current {
          id
          text
        }
      }
      relations(asOf: $later, first: 100) {
        edges {
          node {
            id
            type
            subject {
              name
            }
            object {
              name
            }
          }
        }
      }
    }
  }
`)

export type Told = ResultOf<typeof BELIEFS>['then']

export const FOUND = graphql(`
  query FoundToCompare($owner: ID!, $text: String!, $after: String) {
    entries(ownerId: $owner, filter: { text: $text }, first: 20, after: $after) {
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

/** Entries that were deleted since: a search of today does not find them. */
export const DELETED = graphql(`
  query DeletedSince($bases: [ID!], $from: DateTime!) {
    auditLog(filter: { kbIds: $bases, operations: ["entry.delete"], from: $from }, first: 100) {
      edges {
        node {
          id
          targetId
        }
      }
    }
  }
`)

export const BASES = graphql(`
  query BasesToCompare($owner: ID!) {
    knowledgeBases(ownerId: $owner, first: 100) {
      edges {
        node {
          id
        }
      }
    }
  }
`)
