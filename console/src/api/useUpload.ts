/** Changes that carry a file: GraphQL multipart, sent so that one sees how far it has come (CO-34). */
import { type AnyVariables, CombinedError, stringifyDocument, type TypedDocumentNode } from '@urql/core'
import { useCallback, useEffect, useRef, useState } from 'react'

import { useSession } from '../session/current'
import { GRAPHQL_PATH } from './client'
import { asksForSignIn, type Fault, faultOf } from './fault'

export type Upload<D, V> = {
  /** The answer, or null if the server refused; then `fault` says why. `file` takes the place of the variable. */
  run: (variables: V & { file: File }) => Promise<D | null>
  /** Part of the bytes that were sent, 0 to 1; undefined while nothing is sent. */
  sent: number | undefined
  fault: Fault | undefined
}

type Answer = { data?: unknown; errors?: { message: string }[] }
type Told = { data?: unknown; error?: CombinedError }

export function useUpload<D, V extends AnyVariables>(mutation: TypedDocumentNode<D, V>): Upload<D, V> {
  const session = useSession()
  const [sent, setSent] = useState<number>()
  const [fault, setFault] = useState<Fault>()
  const request = useRef<XMLHttpRequest>(null)
  useEffect(() => () => request.current?.abort(), [])
  const run = useCallback(
    async (variables: V & { file: File }) => {
      setFault(undefined)
      setSent(0)
      request.current = new XMLHttpRequest()
      const { data, error } = await send(request.current, {
        body: multipart(stringifyDocument(mutation), variables),
        token: session.token(),
        onSent: setSent,
      })
      setSent(undefined)
      if (error) setFault(faultOf(error))
      if (error && asksForSignIn(error)) session.expire()
      return error ? null : (data as D)
    },
    [mutation, session],
  )
  return { run, sent, fault }
}

/** The form of the GraphQL multipart request: operations, map, and the one file. */
export function multipart(query: string, { file, ...variables }: { file: File }): FormData {
  const form = new FormData()
  form.append('operations', JSON.stringify({ query, variables: { ...variables, file: null } }))
  form.append('map', JSON.stringify({ file: ['variables.file'] }))
  form.append('file', file)
  return form
}

function send(
  request: XMLHttpRequest,
  { body, token, onSent }: { body: FormData; token: string | null; onSent: (part: number) => void },
): Promise<Told> {
  return new Promise((resolve) => {
    request.open('POST', GRAPHQL_PATH)
    request.setRequestHeader('Rootward-Upload', '1')
    request.setRequestHeader('Accept', 'application/json')
    if (token !== null) request.setRequestHeader('Authorization', `Bearer ${token}`)
    request.upload.onprogress = ({ loaded, total }) => {
      onSent(total > 0 ? loaded / total : 0)
    }
    request.onload = () => {
      resolve(answered(request))
    }
    request.onerror = request.onabort = () => {
      resolve({ error: new CombinedError({ networkError: new Error('no answer') }) })
    }
    request.send(body)
  })
}

function answered(request: XMLHttpRequest): Told {
  const { data, errors } = parsed(request.responseText)
  if (errors && errors.length > 0) return { error: new CombinedError({ graphQLErrors: errors }) }
  if (data !== undefined && data !== null) return { data }
  const networkError = new Error(request.statusText || `HTTP ${request.status}`)
  return { error: new CombinedError({ networkError, response: { status: request.status } }) }
}

function parsed(text: string): Answer {
  try {
    return JSON.parse(text) as Answer
  } catch {
    return {}
  }
}
