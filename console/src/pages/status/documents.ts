/** What the Status tab asks of the API. */
import { graphql } from '../../api/graphql'
import { BASE } from '../../ui/baseName'
import { CITATION } from '../../ui/Citations'

export const STATUS = graphql(
  `
    query Status($owner: ID!) {
      status(ownerId: $owner) {
        at
        alerts {
          code
          severity
          since
          message
          objectIds
          hiddenObjects
          link
        }
        vectors {
          kind
          total
          embedded
          pending
          failed
          oldestPendingAt
          model
        }
        embedding {
          provider
          model
          dimensions
          failures
          lastError
          nextTryAt
        }
        stageA {
          scope
          pending
          carried
          oldestPendingAt
          lastSuccessAt
          attempts
          lastError
          channel {
            id
            displayName
            routing {
              memoryScope
              isolated
            }
          }
        }
        unread {
          failingChannels
          laggingChannels
          stuckTasks
        }
        stageB {
          pending {
            kind
            count
          }
          pendingTotal
          oldestPendingAt
          lastSuccessAt
          unavailable
          lastRun {
            id
            state
            trigger
            startedAt
            error
            advice
          }
        }
        memos {
          used
          allowed
          memoId
          knowledgeBase {
            id
            ...BaseName
          }
        }
        stuck {
          id
          kind
          since
          attempts
          error
          action
          subjectId
        }
        lint {
          rule
          count
        }
      }
    }
  `,
  [BASE],
)

export const MEMO = graphql(
  `
    query Memo($id: ID!) {
      node(id: $id) {
        id
        ... on ResidentMemo {
          lines {
            id
            text
            recordedAt
            stale
            modifierKind
            modifier {
              displayName
            }
            citations {
              ...CitationParts
            }
          }
        }
      }
    }
  `,
  [CITATION],
)

export const OBJECT = graphql(
  `
    query StatusObject($id: ID!) {
      node(id: $id) {
        __typename
        id
        ... on Entry {
          name
        }
        ... on Channel {
          displayName
        }
        ... on Principal {
          displayName
        }
        ... on Source {
          title
        }
        ... on Connector {
          displayName
        }
        ... on KnowledgeBase {
          ...BaseName
        }
        ... on ResidentMemo {
          knowledgeBase {
            ...BaseName
          }
        }
        ... on DreamRun {
          startedAt
        }
      }
    }
  `,
  [BASE],
)

export const LINT = graphql(`
  query Lint($owner: ID!, $rules: [LintRule!], $after: String) {
    lint(ownerId: $owner, rules: $rules, after: $after) {
      edges {
        node {
          rule
          detail
          measure
          entries {
            id
            name
          }
        }
      }
      pageInfo {
        hasNextPage
        endCursor
      }
      totalCount
    }
  }
`)

export const RETRY = graphql(`
  mutation RetryStuck($id: ID!) {
    retryLearning(materialId: $id) {
      id
    }
  }
`)

export const RELEASE_ITEM = graphql(`
  mutation ReleaseItem($id: ID!) {
    releaseParked(itemId: $id)
  }
`)

export const RELEASE_JOB = graphql(`
  mutation ReleaseJob($id: ID!) {
    releaseJob(id: $id) {
      id
    }
  }
`)
