/** Quotes with their sources, each a link to the source in the trace. */
import { Anchor, Blockquote, List, Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router'

import { type FragmentOf, graphql, readFragment } from '../api/graphql'
import { useOwner } from '../app/owner'
import { tracePath } from '../app/paths'
import { Told } from './Told'
import { shownTime } from './When'

export const CITATION = graphql(`
  fragment CitationParts on Citation {
    quote
    role
    saidAt
    speaker {
      displayName
    }
    source {
      id
      kind
      state
      title
      occurredAt
    }
  }
`)

export function Citations({ of }: { of: readonly FragmentOf<typeof CITATION>[] }) {
  return (
    <List listStyleType="none" spacing="xs">
      {of.map((one, place) => (
        <List.Item key={place}>
          <OneCitation of={one} />
        </List.Item>
      ))}
    </List>
  )
}

function OneCitation({ of }: { of: FragmentOf<typeof CITATION> }) {
  const { t, i18n } = useTranslation('ui')
  const owner = useOwner()
  const { quote, source, saidAt, speaker } = readFragment(CITATION, of)
  const when = shownTime(saidAt ?? source.occurredAt, i18n.language)
  return (
    <Blockquote p="xs" my={0}>
      {quote !== '' && <Told>{quote}</Told>}
      <Text size="xs">
        <Anchor component={Link} to={tracePath(owner.id, source.id)} size="xs">
          {source.title === null ? (
            t('citation.from', { kind: t(`sourceKind.${source.kind}`), when })
          ) : (
            <Told>{source.title}</Told>
          )}
        </Anchor>
        {speaker && (
          <>
            {' · '}
            <Told>{speaker.displayName}</Told>
          </>
        )}
        {source.state !== 'LIVE' && ` · ${t(`sourceState.${source.state}`)}`}
      </Text>
    </Blockquote>
  )
}
