/** What went wrong, in the form that pages show: a code, a text that says what to do, and details. */
import type { CombinedError } from '@urql/core'

export type Fault = {
  /** Of the server (`VERSION_CONFLICT`), or `UNREACHABLE` if it did not answer. */
  code: string
  message: string
  details: Readonly<Record<string, unknown>>
}

export const UNREACHABLE = 'UNREACHABLE'
export const UNAUTHENTICATED = 'UNAUTHENTICATED'

/** The fault in an error of the client: the first that the server named, else what the connection did. */
export function faultOf(error: CombinedError): Fault {
  const named = error.graphQLErrors[0]
  if (named) return serverFault(named.message, named.extensions)
  const response = error.response as Response | undefined
  if (response?.status === 401) return { code: UNAUTHENTICATED, message: error.message, details: {} }
  return { code: UNREACHABLE, message: error.networkError?.message ?? error.message, details: {} }
}

function serverFault(message: string, extensions: Record<string, unknown>): Fault {
  const { code, ...details } = extensions
  return { code: typeof code === 'string' ? code : 'INTERNAL', message, details }
}

const PASSING = new Set([UNREACHABLE, UNAUTHENTICATED, 'STORE_UNAVAILABLE', 'INTERNAL'])

/** Whether it says nothing about what was asked for, and may be over the next time. */
export const passes = (fault: Fault): boolean => PASSING.has(fault.code)

/** Only who signs in again can go on; the page stays as it is. */
export function asksForSignIn(error: CombinedError): boolean {
  return faultOf(error).code === UNAUTHENTICATED
}
