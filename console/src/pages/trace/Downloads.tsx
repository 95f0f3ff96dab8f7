/** The trace as a file: what other tools read, or a picture. */
import { Button, Menu } from '@mantine/core'
import { type RefObject, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useClient } from 'urql'

import { type Fault, faultOf } from '../../api/fault'
import { FaultNotice } from '../../ui/FaultNotice'
import type { PictureHandle } from '../../ui/Picture'
import { save } from '../../ui/save'
import type { Direction } from './graph'
import { PROVENANCE_EXPORT } from './queries'

export function Downloads({
  root,
  direction,
  picture,
}: {
  root: string
  direction: Direction
  picture: RefObject<PictureHandle | null> | null
}) {
  const { t } = useTranslation('trace')
  const client = useClient()
  const [fault, setFault] = useState<Fault>()
  const provenance = async () => {
    setFault(undefined)
    const { data, error } = await client
      .query(PROVENANCE_EXPORT, { id: root, format: 'PROV_JSON', direction })
      .toPromise()
    if (error) setFault(faultOf(error))
    if (data) save('trace.prov.json', new Blob([data.provenanceExport], { type: 'application/json' }))
  }
  const png = async () => {
    const found = await picture?.current?.png()
    if (found) save('trace.png', found)
  }
  return (
    <>
      <Menu>
        <Menu.Target>
          <Button size="xs" variant="default">
            {t('downloads')}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => void provenance()}>{t('prov')}</Menu.Item>
          {picture && <Menu.Item onClick={() => void png()}>{t('png')}</Menu.Item>}
        </Menu.Dropdown>
      </Menu>
      {fault && <FaultNotice fault={fault} retry={() => void provenance()} />}
    </>
  )
}
