/** Fetches a stored original with the user's token and hands it to the browser's downloads, byte for byte. */
import { Button } from '@mantine/core'
import { useState } from 'react'

import { type Fault, UNREACHABLE } from '../api/fault'
import { useSession } from '../session/current'
import { FaultNotice } from './FaultNotice'
import { save } from './save'

export function DownloadButton({ path, label, name }: { path: string; label: string; name?: string }) {
  const session = useSession()
  const [busy, setBusy] = useState(false)
  const [fault, setFault] = useState<Fault>()
  const fetchIt = async () => {
    setBusy(true)
    setFault(undefined)
    try {
      const response = await fetch(path, { headers: { Authorization: `Bearer ${session.token() ?? ''}` } })
      if (response.ok) save(name ?? nameIn(response), await response.blob())
      else setFault({ code: `HTTP ${response.status}`, message: response.statusText, details: {} })
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

function nameIn(response: Response): string {
  const found = /filename\*=UTF-8''([^;]+)/.exec(response.headers.get('content-disposition') ?? '')
  return found?.[1] === undefined ? 'original' : decodeURIComponent(found[1])
}
