/** What the Audit tab asks of the API. */
import { graphql } from '../../api/graphql'
import { BASE } from '../../ui/baseName'

export const TARGET = graphql(`
  fragment AuditTarget on Node {
    __typename
    ... on Entry {
      name
    }
    ... on Block {
      entry {
        name
      }
    }
    ... on Relation {
      type
      subject {
        name
      }
      object {
        name
      }
    }
    ... on Lesson {
      text
    }
    ... on Source {
      title
    }
  }
`)

/** What any list says of a record. */
export const LINE = graphql(`
  fragment AuditLine on AuditRecord @_unmask {
    id
    seq
    recordedAt
    actorKind
    operation
    reason
    actor {
      displayName
    }
  }
`)

export const ROW = graphql(
  `
    fragment AuditRow on AuditRecord {
      ...AuditLine
      restorable
      before
      after
      targetId
      target {
        ...AuditTarget
      }
      restoredBy {
        id
      }
    }
  `,
  [LINE, TARGET],
)

export const RECORDS = graphql(
  `
    query AuditRecords($filter: AuditFilter!, $after: String) {
      auditLog(filter: $filter, after: $after) {
        edges {
          node {
            ...AuditRow
          }
        }
        pageInfo {
          hasNextPage
          endCursor
        }
        totalCount
      }
    }
  `,
  [ROW],
)

/** Only what selecting needs: thousands of rows may match. */
export const MATCHING = graphql(`
  query AuditMatching($filter: AuditFilter!, $after: String) {
    auditLog(filter: $filter, first: 100, after: $after) {
      edges {
        node {
          id
          recordedAt
          restorable
        }
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
`)

export const RECORD = graphql(
  `
    query AuditRecord($id: ID!) {
      node(id: $id) {
        __typename
        id
        ... on AuditRecord {
          ...AuditRow
          txId
          hash
          prevHash
          onBehalfOf {
            displayName
          }
          knowledgeBase {
            kind
            channel {
              displayName
            }
          }
          dreamRun {
            id
            stage
            startedAt
          }
          restores {
            id
            seq
            operation
          }
          restoredBy {
            id
            seq
            recordedAt
          }
        }
      }
    }
  `,
  [ROW],
)

export const CHOICES = graphql(
  `
    query AuditChoices($owner: ID!) {
      knowledgeBases(ownerId: $owner, first: 100) {
        edges {
          node {
            id
            ...BaseName
          }
        }
      }
      auditActors(ownerId: $owner) {
        id
        displayName
      }
      dreamRuns(agentId: $owner, first: 100) {
        edges {
          node {
            id
            stage
            state
            startedAt
          }
        }
      }
    }
  `,
  [BASE],
)

export const PREVIEW = graphql(
  `
    query AuditRestorePreview($ids: [ID!]!) {
      restorePreview(auditIds: $ids) {
        restorable
        previewHash
        steps {
          current
          restored
          conflict
          omittedRelations
          nameTakenBy
          record {
            ...AuditRow
          }
        }
      }
    }
  `,
  [ROW],
)

export const RESTORE = graphql(
  `
    mutation AuditRestore($ids: [ID!]!, $reason: String!, $previewHash: String!) {
      restoreBatch(auditIds: $ids, reason: $reason, previewHash: $previewHash) {
        txId
        records {
          ...AuditRow
        }
      }
    }
  `,
  [ROW],
)

/** What an entry was called before it was deleted. */
export const NAME_THEN = graphql(`
  query NameThen($id: ID!, $at: DateTime!) {
    entry(id: $id, asOf: { recorded: $at }) {
      id
      name
    }
  }
`)

export const VERIFY = graphql(`
  query VerifyAudit {
    verifyAudit {
      ok
      brokenAtSeq
      chains {
        poolId
        ok
        brokenAtSeq
        reason
        headSeq
      }
      administration {
        ok
        brokenAtSeq
        reason
        headSeq
      }
      anchors {
        ok
        brokenAtSeq
        reason
        headSeq
      }
    }
  }
`)

export const REVIEW = graphql(`
  query ReviewBlocks($owner: ID!, $view: ReviewView!, $after: String) {
    review(ownerId: $owner, view: $view, after: $after) {
      edges {
        node {
          entry {
            id
            name
          }
          block {
            id
            text
            basis
            standing
            stale
            validTo
            toPrecision
            recordedAt
            modifierKind
            modifier {
              displayName
            }
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
