/** The entry that is open, for all parts of its page. */
import { createContext, use } from 'react'

import { type FragmentOf, readFragment, type ResultOf } from '../../api/graphql'
import { ENTRY, RELATION, VERSION } from './queries'

export type Entry = NonNullable<ResultOf<typeof ENTRY>['entry']>
export type Attribute = Entry['attributes'][number]
export type Version = ResultOf<typeof VERSION>
export type Relation = ResultOf<typeof RELATION>
export type Block = { id: string; current: Version }

export type Open = {
  entry: Entry
  /** Read it again after a change. */
  reload: () => void
  /** Whether the user may write: a curator who works there, and no mirror (CO-5, CO-30). */
  mayEdit: boolean
}

export const OpenEntry = createContext<Open | null>(null)

export function useOpenEntry(): Open {
  const open = use(OpenEntry)
  if (open === null) throw new Error('useOpenEntry outside of the page of an entry')
  return open
}

export const isWritable = (entry: Entry): boolean => entry.knowledgeBase.writable && !entry.readOnly

export const relationOf = (masked: FragmentOf<typeof RELATION>): Relation => readFragment(RELATION, masked)

/** Blocks with a version that is shown now. */
export function blocksOf(entry: Entry): Block[] {
  return entry.blocks.flatMap(({ id, current }) =>
    current === null ? [] : [{ id, current: readFragment(VERSION, current) }],
  )
}
