/** Fetches a stored original with the user's token and hands it to the browser's downloads, byte for byte. */
import { Button } from '@mantine/core'
import { CombinedError } from '@urql/core'
import { useState } from 'react'

import { type Fault, faultOf, UNAUTHENTICATED, UNREACHABLE } from '../api/fault'
import { useSession } from '../session/current'
import { FaultNotice } from './FaultNotice'
import { save } from './save'

export function DownloadButton({ path, label, name }: { path: string; label: string; name?: string }) {
  const session = useSession()
  const [busy, setBusy] = useState(false)
  const [fault, setFault] = useState<Fault>()
  const refused = (found: Fault) => {
    setFault(found)
    if (found.code === UNAUTHENTICATED) session.expire()
  }
  const fetchIt = async () => {
    setBusy(true)
    setFault(undefined)
    try {
      const response = await fetch(path, { headers: { Authorization: `Bearer ${session.token() ?? ''}` } })
      if (response.ok) save(name ?? nameIn(response), await response.blob())
      else refused(await faultIn(response))
    } catch {
      setFault({ code: UNREACHABLE, message: '', details: {} })
    }
    setBusy(false)
  }
  return (
    <>
      <Button size="xs" variant="default" loading={busy} onClick={() => void fetchIt()}>
        {label}
      </Button>
      {fault && <FaultNotice fault={fault} retry={() => void fetchIt()} />}
    </>
  )
}

/** Refusals of downloads have the form of GraphQL's. */
async function faultIn(response: Response): Promise<Fault> {
  try {
    const { errors } = (await response.json()) as { errors: { message: string }[] }
    return faultOf(new CombinedError({ graphQLErrors: errors, response }))
  } catch {
    return { code: `HTTP ${response.status}`, message: response.statusText, details: {} }
  }
}

function nameIn(response: Response): string {
  const found = /filename\*=UTF-8''([^;]+)/.exec(response.headers.get('content-disposition') ?? '')
  return found?.[1] === undefined ? 'original' : decodeURIComponent(found[1])
}
