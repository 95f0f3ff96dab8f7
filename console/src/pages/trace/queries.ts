/** What the trace asks of the API. */
import { type FragmentOf, graphql } from '../../api/graphql'

export const TRACE_NODE = graphql(`
  fragment TraceNode on Node @_unmask {
    id
    ... on Source {
      sourceKind: kind
      sourceState: state
      sourceTitle: title
      saidAt
      speakerName
      author {
        displayName
      }
    }
    ... on BlockVersion {
      blockText: text
      version
      standing
      invalidatedAt
    }
    ... on Block {
      current {
        text
      }
    }
    ... on Entry {
      name
    }
    ... on Facet {
      field
      facetValue: value
    }
    ... on Attribute {
      attributeKey: key
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
    ... on Episode {
      topic
    }
    ... on MemoLine {
      lineText: text
    }
    ... on Lesson {
      lessonText: text
    }
    ... on DreamRun {
      stage
      startedAt
    }
    ... on AuditRecord {
      seq
      operation
    }
    ... on SessionFact {
      factKey: key
    }
    ... on AgentEntry {
      agentKey: key
    }
    ... on BotEntry {
      layer
    }
    ... on SessionItem {
      itemType: type
    }
    ... on ChatItem {
      chatItemType: type
    }
    ... on MemoryFile {
      path
    }
  }
`)

export type TraceNode = FragmentOf<typeof TRACE_NODE>

export const PROVENANCE = graphql(
  `
    query Provenance($id: ID!, $depth: Int!, $direction: ProvenanceDirection!) {
      provenance(id: $id, depth: $depth, direction: $direction) {
        truncated
        root {
          id
        }
        nodes {
          ...TraceNode
        }
        edges {
          from
          to
          type
          quote
        }
      }
    }
  `,
  [TRACE_NODE],
)

export const PROVENANCE_EXPORT = graphql(`
  query ProvenanceExport($id: ID!, $format: ProvenanceFormat!, $direction: ProvenanceDirection!) {
    provenanceExport(id: $id, format: $format, direction: $direction)
  }
`)

export const NODE_DETAIL = graphql(`
  query NodeDetail($id: ID!) {
    node(id: $id) {
      id
      ... on Source {
        sourceText: text
        address
        downloadPath
        sourceVersion: version
        latest
        occurredAt
        recordedAt
        speakerName
        author {
          displayName
        }
      }
      ... on BlockVersion {
        basis
        modifierKind
        modifier {
          displayName
        }
        reason
        stale
        blockText: text
        recordedAt
      }
      ... on Lesson {
        lessonText: text
        origin
      }
      ... on MemoLine {
        lineText: text
      }
      ... on Episode {
        summary
      }
      ... on AuditRecord {
        auditReason: reason
        recordedAt
        actor {
          displayName
        }
      }
      ... on SessionFact {
        content
      }
      ... on AgentEntry {
        content
      }
      ... on BotEntry {
        content
      }
      ... on SessionItem {
        itemText: text
      }
      ... on ChatItem {
        chatText: text
      }
    }
  }
`)

export const WHY_VISIBLE = graphql(`
  query WhyVisible($id: ID!) {
    explainVisibility(id: $id) {
      visible
      truncated
      nodes {
        id
        kind
        passed
        depth
        rules {
          kind
          objectId
        }
      }
      failure {
        reason
        to
      }
    }
  }
`)

export const NAMED = graphql(`
  query Named($id: ID!) {
    node(id: $id) {
      ... on Principal {
        displayName
      }
      ... on Channel {
        channelName: displayName
        kind
      }
    }
  }
`)
