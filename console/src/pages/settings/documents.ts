/** What the Memory settings ask of the API. */
import { graphql } from '../../api/graphql'

export const SETTING = graphql(`
  fragment SettingParts on Setting {
    name
    value
    default
    takes
    nullable
    low
    high
    above
    unit
    perAgent
    origin
    version
  }
`)

export const SETTINGS = graphql(
  `
    query Settings {
      settings {
        ...SettingParts
      }
      workspace {
        viewerRights
      }
    }
  `,
  [SETTING],
)

export const AGENT_SETTINGS = graphql(
  `
    query AgentSettings($agent: ID!) {
      agentSettings(agentId: $agent) {
        ...SettingParts
      }
      workspace {
        viewerRights
      }
    }
  `,
  [SETTING],
)

export const SET = graphql(`
  mutation SetSetting($name: String!, $value: JSON, $agent: ID, $version: Int!) {
    setSetting(name: $name, value: $value, agentId: $agent, expectedVersion: $version) {
      name
      version
    }
  }
`)

export const RESET = graphql(`
  mutation ResetSetting($name: String!, $agent: ID, $version: Int!) {
    resetSetting(name: $name, agentId: $agent, expectedVersion: $version) {
      name
      version
    }
  }
`)
