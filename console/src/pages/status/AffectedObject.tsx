/** What an alert is about, by its name; an entry leads to itself. */
import { Anchor, Text } from '@mantine/core'
import { Link } from 'react-router'

import type { ResultOf } from '../../api/graphql'
import { useRead } from '../../api/useRead'
import { useOwner } from '../../app/owner'
import { entryPath } from '../../app/paths'
import { Told } from '../../ui/Told'
import { OBJECT } from './documents'

export function AffectedObject({ id }: { id: string }) {
  const owner = useOwner()
  const node = useRead(OBJECT, { id }).data?.node
  if (node?.__typename === 'Entry')
    return (
      <Anchor component={Link} to={entryPath(owner.id, id)} size="sm">
        <Told>{node.name}</Told>
      </Anchor>
    )
  const name = nameOf(node)
  return name === '' ? null : (
    <Text size="sm" component="span">
      <Told>{name}</Told>
    </Text>
  )
}

function nameOf(node: ResultOf<typeof OBJECT>['node'] | undefined): string {
  if (!node) return ''
  if ('displayName' in node) return node.displayName
  return 'title' in node ? (node.title ?? '') : ''
}
