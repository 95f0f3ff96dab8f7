/** Hands in a material of any kind, and says what it became: a kept file, or an entry (MA-1, MA-11). */
import { useState } from 'react'

import { useUpload } from '../../../api/useUpload'
import { useWrite } from '../../../api/useWrite'
import { SUBMIT_FILE, SUBMIT_TEXT, SUBMIT_URL } from '../queries'
import type { Place } from './ScopeChoice'
import type { Kind, Typed } from './typed'

export type Made = { id: string; entry: boolean }

export function useSubmit() {
  const file = useUpload(SUBMIT_FILE)
  const text = useWrite(SUBMIT_TEXT)
  const url = useWrite(SUBMIT_URL)
  const [last, setLast] = useState<Kind>()
  const run = async ({ agent, kb }: Place, typed: Typed): Promise<Made | null> => {
    setLast(typed.kind)
    const title = typed.title.trim()
    const where = { owner: agent, kb, title: title === '' ? null : title }
    if (typed.kind === 'text') return entryOf((await text.run({ ...where, text: typed.text }))?.submitText)
    if (typed.kind === 'url') return entryOf((await url.run({ ...where, url: typed.url.trim() }))?.submitUrl)
    if (typed.file === null) return null
    const done = await file.run({ ...where, file: typed.file })
    return done && { id: done.submitFile.id, entry: false }
  }
  return {
    run,
    sent: file.sent,
    busy: file.sent !== undefined || text.busy || url.busy,
    fault: last && { file, text, url }[last].fault,
  }
}

const entryOf = (made: { id: string } | undefined): Made | null =>
  made ? { id: made.id, entry: true } : null
