/** What the comparison asks of the API. */
import { graphql, type ResultOf } from '../../api/graphql'

const ENTRY = graphql(`
  fragment ToldEntry on Entry @_unmask {
    id
    name
    type
    summary
    aliases
    createdAt
    deletedAt
    owner {
      id
    }
  }
`)

const BLOCK = graphql(`
  fragment ToldBlock on Block @_unmask {
    id
    current {
      id
      text
    }
  }
`)

const RELATIONS = graphql(`
  fragment ToldRelations on RelationConnection @_unmask {
    pageInfo {
      hasNextPage
    }
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
`)

export const BELIEFS = graphql(
  `
    query Beliefs($id: ID!, $then: AsOf!, $later: AsOf) {
      then: entry(id: $id, asOf: $then) {
        ...ToldEntry
        blocks(asOf: $then) {
          ...ToldBlock
        }
        relations(asOf: $then, first: 100) {
          ...ToldRelations
        }
      }
      later: entry(id: $id, asOf: $later) {
        ...ToldEntry
        blocks(asOf: $later) {
          ...ToldBlock
        }
        relations(asOf: $later, first: 100) {
          ...ToldRelations
        }
      }
    }
  `,
  [ENTRY, BLOCK, RELATIONS],
)

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
  query DeletedSince($bases: [ID!], $from: DateTime!, $after: String) {
    auditLog(
      filter: { kbIds: $bases, operations: ["entry.delete"], from: $from }
      first: 100
      after: $after
    ) {
      totalCount
      pageInfo {
        hasNextPage
        endCursor
      }
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
