/** The agent whose memory is looked at, and what the user may do there (CO-3, CO-5). */
import { createContext, use } from 'react'

export type Right = 'ADMIN' | 'AUDITOR' | 'CURATOR' | 'READER' | 'WRITE' | 'RUN' | 'READ' | 'HOST'

export type Owner = {
  /** Global id of the agent. */
  id: string
  name: string
  /** What the user may do on this agent. */
  rights: ReadonlySet<Right>
  /** What the user may do in the whole workspace. */
  everywhere: ReadonlySet<Right>
  viewer: { id: string; name: string }
}

export const OwnerContext = createContext<Owner | null>(null)

export function useOwner(): Owner {
  const owner = use(OwnerContext)
  if (owner === null) throw new Error('useOwner outside of a page of an owner')
  return owner
}

export const mayCurate = (owner: Owner): boolean => owner.rights.has('CURATOR')

export const mayAudit = (owner: Owner): boolean =>
  owner.rights.has('AUDITOR') || owner.everywhere.has('AUDITOR')

export const mayAdminister = (owner: Owner): boolean => owner.everywhere.has('ADMIN')
