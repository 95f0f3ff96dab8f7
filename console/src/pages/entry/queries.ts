import { graphql } from '../../api/graphql'
import { BASE } from '../../ui/baseName'
import { CITATION } from '../../ui/Citations'

export const VERSION = graphql(
  `
    fragment VersionParts on BlockVersion {
      id
      version
      text
      basis
      standing
      authority
      condition
      conclusion
      inferredAt
      evidenceCount
      validFrom
      validTo
      fromPrecision
      toPrecision
      recordedAt
      reason
      stale
      modifierKind
      modifier {
        displayName
      }
      dreamRun {
        id
        startedAt
      }
      citations {
        quote
        role
        source {
          id
          title
          speakerName
          occurredAt
        }
        ...CitationParts
      }
      derivedFrom {
        id
        ... on BlockVersion {
          text
        }
        ... on Relation {
          relationType: type
          subject {
            name
          }
          object {
            name
          }
        }
      }
    }
  `,
  [CITATION],
)

export const RELATION = graphql(
  `
    fragment RelationParts on Relation {
      id
      relationType: type
      version
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
  `,
  [CITATION],
)

export const ENTRY = graphql(
  `
    query Entry($id: ID!) {
      entry(id: $id) {
        id
        name
        type
        aliases
        summary
        readOnly
        version
        updatedAt
        owner {
          id
        }
        lastModifier {
          displayName
        }
        knowledgeBase {
          id
          writable
          ...BaseName
        }
        marks {
          disputed
          stale
        }
        mirror {
          sourceVersion
          syncedAt
          state
          connector {
            displayName
            kind
            lastSyncAt
            lastError
          }
        }
        attributes {
          id
          key
          value
          stale
          validFrom
          validTo
          fromPrecision
          toPrecision
          citations {
            ...CitationParts
          }
        }
        blocks {
          id
          current {
            ...VersionParts
          }
        }
      }
    }
  `,
  [BASE, VERSION, CITATION],
)

export const RELATIONS = graphql(
  `
    query EntryRelations($id: ID!, $after: String) {
      entry(id: $id) {
        relations(first: 20, after: $after) {
          totalCount
          pageInfo {
            hasNextPage
            endCursor
          }
          edges {
            node {
              ...RelationParts
            }
          }
        }
      }
    }
  `,
  [RELATION],
)

export const SOURCES = graphql(`
  query EntrySources($id: ID!, $after: String) {
    entry(id: $id) {
      sources(first: 20, after: $after) {
        totalCount
        pageInfo {
          hasNextPage
          endCursor
        }
        edges {
          node {
            id
            kind
            state
            title
            text
            speakerName
            occurredAt
          }
        }
      }
    }
  }
`)

export const VERSIONS = graphql(
  `
    query BlockVersions($id: ID!, $after: String) {
      node(id: $id) {
        ... on Block {
          versions(first: 20, after: $after) {
            totalCount
            pageInfo {
              hasNextPage
              endCursor
            }
            edges {
              node {
                ...VersionParts
              }
            }
          }
        }
      }
    }
  `,
  [VERSION],
)

export const FIND_SOURCES = graphql(`
  query FindSources($input: MemorySearchInput!) {
    memorySearch(input: $input) {
      items {
        sources {
          source {
            id
            kind
            state
            title
            text
            speakerName
            occurredAt
          }
        }
      }
    }
  }
`)

export const TYPES = graphql(`
  query EntryTypes($owner: ID!) {
    entryTypes(ownerId: $owner)
  }
`)

export const DELETE = graphql(`
  mutation DeleteEntry($id: ID!, $version: Int!, $reason: String!) {
    deleteEntry(id: $id, expectedVersion: $version, reason: $reason) {
      txId
    }
  }
`)

export const MERGE = graphql(`
  mutation MergeEntries($keep: ID!, $other: ID!, $reason: String!) {
    mergeEntries(keepId: $keep, otherId: $other, reason: $reason) {
      id
    }
  }
`)
