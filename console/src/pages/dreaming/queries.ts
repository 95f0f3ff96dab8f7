/** What the Dreaming tab asks of the API. */
import { type FragmentOf, graphql } from '../../api/graphql'

export const RUN = graphql(`
  fragment RunParts on DreamRun @_unmask {
    id
    stage
    trigger
    state
    startedAt
    endedAt
    materialsProcessed
    operations
    skillUpdates
    rejected
    error
    advice
  }
`)

export type Run = FragmentOf<typeof RUN>

export const RUNS = graphql(
  `
    query DreamRuns($agent: ID!, $after: String) {
      dreamRuns(agentId: $agent, first: 20, after: $after) {
        totalCount
        pageInfo {
          hasNextPage
          endCursor
        }
        edges {
          node {
            ...RunParts
          }
        }
      }
    }
  `,
  [RUN],
)

export const ONE_RUN = graphql(
  `
    query OneRun($id: ID!) {
      node(id: $id) {
        id
        ... on DreamRun {
          ...RunParts
        }
      }
    }
  `,
  [RUN],
)

export const REJECTIONS = graphql(`
  query Rejections($id: ID!, $after: String) {
    node(id: $id) {
      id
      ... on DreamRun {
        rejections(first: 20, after: $after) {
          totalCount
          pageInfo {
            hasNextPage
            endCursor
          }
          edges {
            node {
              batchId
              index
              op
              code
              reason
            }
          }
        }
      }
    }
  }
`)

export const SURVIVAL = graphql(`
  query Survival($agent: ID!) {
    survivalRate(agentId: $agent) {
      survived
      cohort
      rate
      windowDays
    }
  }
`)

export const RUN_NOW = graphql(
  `
    mutation RunNow($agent: ID!) {
      runDreaming(agentId: $agent) {
        ...RunParts
      }
    }
  `,
  [RUN],
)

export const PROGRESS = graphql(
  `
    subscription RunProgress($run: ID!) {
      dreamRunProgress(runId: $run) {
        ...RunParts
      }
    }
  `,
  [RUN],
)
