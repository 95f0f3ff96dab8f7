/** What the Agent Library asks of the API beside the Overlays. */
import { type FragmentOf, graphql } from '../../api/graphql'
import { LINE } from '../audit/documents'
import { LESSON } from '../skills/queries'

export const SKILL = graphql(`
  fragment SkillParts on Skill @_unmask {
    id
    slug
    name
    baseText
    baseVersion
  }
`)

export type Skill = FragmentOf<typeof SKILL>

export const SKILLS = graphql(
  `
    query Skills {
      skills {
        ...SkillParts
      }
    }
  `,
  [SKILL],
)

export const LESSON_VERSIONS = graphql(
  `
    query LessonVersions($id: ID!) {
      node(id: $id) {
        id
        ... on Lesson {
          versions {
            ...LessonParts
          }
        }
      }
    }
  `,
  [LESSON],
)

export const LESSON_AUDIT = graphql(
  `
    query LessonAudit($owner: ID!, $lesson: ID!, $after: String) {
      auditLog(filter: { ownerId: $owner, targetId: $lesson }, first: 20, after: $after) {
        totalCount
        pageInfo {
          hasNextPage
          endCursor
        }
        edges {
          node {
            ...AuditLine
          }
        }
      }
    }
  `,
  [LINE],
)

export const SET_ENABLED = graphql(`
  mutation SetSkillEnabled($agent: ID!, $skill: String!, $enabled: Boolean!) {
    setSkillEnabled(agentId: $agent, skill: $skill, enabled: $enabled) {
      id
      enabled
    }
  }
`)
