/** What the Materials tab asks of the API. */
import { type FragmentOf, graphql } from '../../api/graphql'
import { BASE } from '../../ui/baseName'

export const MATERIAL = graphql(
  `
    fragment MaterialParts on Material @_unmask {
      id
      title
      kind
      state
      code
      reason
      stateAt
      version
      mediaType
      sizeBytes
      submittedAt
      submitter {
        displayName
      }
      knowledgeBase {
        id
        writable
        ...BaseName
      }
      source {
        id
        latest
        downloadPath
      }
    }
  `,
  [BASE],
)

export type Material = FragmentOf<typeof MATERIAL>

export const MATERIALS = graphql(
  `
    query Materials($owner: ID!, $after: String) {
      materials(ownerId: $owner, first: 20, after: $after) {
        totalCount
        pageInfo {
          hasNextPage
          endCursor
        }
        edges {
          node {
            ...MaterialParts
          }
        }
      }
    }
  `,
  [MATERIAL],
)

export const CONNECTED = graphql(`
  query ConnectorMaterials($owner: ID!, $after: String) {
    connectorMaterials(ownerId: $owner, first: 20, after: $after) {
      totalCount
      pageInfo {
        hasNextPage
        endCursor
      }
      edges {
        node {
          name
          sourceVersion
          syncedAt
          state
          problem
          reason
          entryId
          source {
            id
            title
          }
          connector {
            id
            displayName
            lastSyncAt
            lastError
            advice
          }
        }
      }
    }
  }
`)

export const ONE_MATERIAL = graphql(
  `
    query OneMaterial($id: ID!) {
      material(id: $id) {
        ...MaterialParts
      }
    }
  `,
  [MATERIAL],
)

export const PROGRESS = graphql(
  `
    subscription LearningProgress($id: ID!) {
      learningProgress(materialId: $id) {
        ...MaterialParts
      }
    }
  `,
  [MATERIAL],
)

export const CITING = graphql(`
  query CitingEntries($owner: ID!, $source: ID!, $after: String) {
    entries(ownerId: $owner, filter: { citesSourceId: $source }, first: 20, after: $after) {
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
        }
      }
    }
  }
`)

export const RETRY = graphql(`
  mutation RetryLearning($id: ID!) {
    retryLearning(materialId: $id) {
      id
      state
    }
  }
`)

export const STALE_IF_REPLACED = graphql(`
  query StaleIfReplaced($id: ID!) {
    staleIfReplaced(materialId: $id)
  }
`)

export const REPLACE = graphql(`
  mutation ReplaceMaterial($id: ID!, $file: Upload!) {
    replaceMaterial(id: $id, file: $file) {
      id
    }
  }
`)

export const SCOPES = graphql(
  `
    query MaterialScopes($owner: ID!) {
      knowledgeBases(ownerId: $owner, first: 100) {
        edges {
          node {
            id
            kind
            writable
            ...BaseName
          }
        }
      }
    }
  `,
  [BASE],
)

export const SUBMIT_FILE = graphql(`
  mutation SubmitFile($owner: ID!, $kb: ID!, $title: String, $file: Upload!) {
    submitFile(ownerId: $owner, kbId: $kb, file: $file, title: $title) {
      id
    }
  }
`)

export const SUBMIT_TEXT = graphql(`
  mutation SubmitText($owner: ID!, $kb: ID!, $title: String, $text: String!) {
    submitText(ownerId: $owner, kbId: $kb, text: $text, title: $title) {
      id
    }
  }
`)

export const SUBMIT_URL = graphql(`
  mutation SubmitUrl($owner: ID!, $kb: ID!, $title: String, $url: String!) {
    submitUrl(ownerId: $owner, kbId: $kb, url: $url, title: $title) {
      id
    }
  }
`)
