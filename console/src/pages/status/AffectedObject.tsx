/** What an alert is about, by its name; an entry and a run lead to themselves. */
import { Anchor, Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router'

import type { ResultOf } from '../../api/graphql'
import { useRead } from '../../api/useRead'
import { useOwner } from '../../app/owner'
import { entryPath, tabPath } from '../../app/paths'
import { useBaseName } from '../../ui/baseName'
import { Told } from '../../ui/Told'
import { shownTime } from '../../ui/When'
import { OBJECT } from './documents'

export function AffectedObject({ id }: { id: string }) {
  const owner = useOwner()
  const { i18n } = useTranslation()
  const node = useRead(OBJECT, { id }).data?.node
  const name = useName(node)
  if (node?.__typename === 'Entry') return <Lead to={entryPath(owner.id, id)}>{node.name}</Lead>
  if (node?.__typename === 'DreamRun')
    return (
      <Lead to={`${tabPath(owner.id, 'dreaming')}?run=${encodeURIComponent(id)}`}>
        {shownTime(node.startedAt, i18n.language)}
      </Lead>
    )
  return name === '' ? null : (
    <Text size="sm" component="span">
      <Told>{name}</Told>
    </Text>
  )
}

function Lead({ to, children }: { to: string; children: string }) {
  return (
    <Anchor component={Link} to={to} size="sm">
      <Told>{children}</Told>
    </Anchor>
  )
}

function useName(node: ResultOf<typeof OBJECT>['node'] | undefined): string {
  const baseName = useBaseName()
  if (!node) return ''
  if (node.__typename === 'KnowledgeBase') return baseName(node)
  if (node.__typename === 'ResidentMemo') return node.knowledgeBase ? baseName(node.knowledgeBase) : ''
  if ('displayName' in node) return node.displayName
  return 'title' in node ? (node.title ?? '') : ''
}
