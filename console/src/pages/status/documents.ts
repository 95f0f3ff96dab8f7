/** What the Status tab asks of the API. */
import { graphql } from '../../api/graphql'

export const STATUS = graphql(`
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
        knowledgeBase {
          id
          kind
          channel {
            displayName
          }
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
`)

export const OBJECT = graphql(`
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
    }
  }
`)

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
