/** Whose memory the pages beneath it show, and what the user may do there (CO-3, CO-5); made anew for another owner. */
import type { ReactNode } from 'react'

import { graphql, type ResultOf } from '../api/graphql'
import { useRead } from '../api/useRead'
import { Remote } from '../ui/Remote'
import { mayAudit, type Owner, OwnerContext } from './owner'

const OWNER = graphql(`
  query Owner($id: ID!) {
    node(id: $id) {
      id
      ... on Principal {
        kind
        displayName
        viewerRights
      }
    }
    knowledgeBases(ownerId: $id, first: 1) {
      totalCount
    }
    workspace {
      viewerRights
    }
    viewer {
      id
      displayName
    }
  }
`)

export function OwnerScope({
  id,
  loading,
  children,
}: {
  id: string
  /** The page as it is before it is known who the owner is. */
  loading: ReactNode
  children: (owner: Owner) => ReactNode
}) {
  const read = useRead(OWNER, { id })
  return (
    <Remote read={read} pick={ownerIn} loading={loading}>
      {(owner) => (
        <OwnerContext key={owner.id} value={owner}>
          {children(owner)}
        </OwnerContext>
      )}
    </Remote>
  )
}

function ownerIn(data: ResultOf<typeof OWNER>): Owner | null {
  const { node, workspace, viewer } = data
  if (node?.__typename !== 'Principal' || node.kind !== 'AGENT') return null
  const owner: Owner = {
    id: node.id,
    name: node.displayName,
    rights: new Set(node.viewerRights),
    everywhere: new Set(workspace.viewerRights),
    viewer: { id: viewer.id, name: viewer.displayName },
  }
  return readsOf(owner, data.knowledgeBases.totalCount) ? owner : null
}

/** Everybody sees the names of all agents; whose knowledge one does not read is as if it were not there, as in `owners`. */
const readsOf = (owner: Owner, bases: number): boolean =>
  bases > 0 || owner.rights.has('READER') || mayAudit(owner)
