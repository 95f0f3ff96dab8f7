/** Skills, the Overlays on them and their lessons, for the Skill experience tab and the Agent Library. */
import { type FragmentOf, graphql } from '../../api/graphql'
import { BASE } from '../../ui/baseName'
import { CITATION } from '../../ui/Citations'

export const LESSON = graphql(
  `
    fragment LessonParts on Lesson @_unmask {
      id
      lessonId
      text
      origin
      version
      recordedAt
      modifierKind
      reason
      stale
      modifier {
        displayName
      }
      knowledgeBase {
        id
        writable
        ...BaseName
      }
      citations {
        ...CitationParts
      }
    }
  `,
  [BASE, CITATION],
)

export type Lesson = FragmentOf<typeof LESSON>

export const OVERLAY = graphql(
  `
    fragment OverlayParts on SkillOverlay @_unmask {
      id
      slug
      enabled
      tokens
      tokenBudget
      skill {
        id
        name
      }
      lessons {
        ...LessonParts
      }
    }
  `,
  [LESSON],
)

export type Overlay = FragmentOf<typeof OVERLAY>

export const OVERLAYS = graphql(
  `
    query SkillOverlays($owner: ID!, $after: String) {
      skillOverlays(ownerId: $owner, first: 20, after: $after) {
        totalCount
        pageInfo {
          hasNextPage
          endCursor
        }
        edges {
          node {
            ...OverlayParts
          }
        }
      }
    }
  `,
  [OVERLAY],
)
