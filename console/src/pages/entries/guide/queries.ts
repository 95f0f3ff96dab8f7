import { graphql } from '../../../api/graphql'

export const GUIDE = graphql(`
  query Guide($owner: ID!) {
    curationGuide(principalId: $owner) {
      id
      text
      version
      updatedAt
      modifier {
        displayName
      }
    }
  }
`)

export const SET_GUIDE = graphql(`
  mutation SetGuide($owner: ID!, $text: String!, $version: Int!) {
    setCurationGuide(principalId: $owner, text: $text, expectedVersion: $version) {
      id
      version
    }
  }
`)
