/** Edits of knowledge, all by one mutation: a list of operations with a reason (CO-20, KN-111). */
import { graphql } from '../api/graphql'
import { useWrite } from '../api/useWrite'

export const APPLY = graphql(`
  mutation Apply($kb: ID!, $operations: [JSON!]!, $reason: String!) {
    applyOperations(kbId: $kb, operations: $operations, reason: $reason) {
      results {
        outcome
        createdIds
      }
    }
  }
`)

export type Operation = Readonly<Record<string, unknown>> & { op: string }

export const useApply = () => useWrite(APPLY)

/** What the server says is there now, of a refused edit; null if it was refused for something else. */
export function currentOf(fault: { code: string; details: Readonly<Record<string, unknown>> } | undefined) {
  if (fault?.code !== 'VERSION_CONFLICT') return null
  const current = fault.details.current
  if (typeof current !== 'object' || current === null || !('version' in current)) return null
  const { version, text } = current as { version: number; text?: unknown }
  return {
    version,
    text: typeof text === 'string' ? text : '',
    value: current as Readonly<Record<string, unknown>>,
  }
}
