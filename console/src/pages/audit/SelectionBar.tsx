/** What is selected, and the way to its preview; nothing is restored from here (CO-53, CO-55). */
import { Button, Group, Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'

import { mayCurate, useOwner } from '../../app/owner'
import { FaultNotice } from '../../ui/FaultNotice'
import { MOST, type Selection } from './useSelection'

export function SelectionBar({
  selection,
  total,
  onPreview,
}: {
  selection: Selection
  total: number | undefined
  onPreview: (ids: string[]) => void
}) {
  const { t } = useTranslation('audit')
  const owner = useOwner()
  if (!mayCurate(owner) || !total) return null
  const { size, collecting } = selection
  const tooMany = size > MOST
  return (
    <>
      <Group gap="xs">
        <Text size="sm" role="status">
          {t('selected', { count: size })}
        </Text>
        {collecting ? (
          <Button size="xs" variant="default" onClick={selection.stop}>
            {t('stop')}
          </Button>
        ) : (
          <Button size="xs" variant="default" onClick={selection.everything}>
            {t('selectAll', { total })}
          </Button>
        )}
        <Button size="xs" variant="default" disabled={size === 0} onClick={selection.clear}>
          {t('selectNone')}
        </Button>
        <Button size="xs" disabled={size === 0 || collecting} onClick={() => onPreview(selection.newest())}>
          {tooMany ? t('previewNewest', { most: MOST }) : t('preview')}
        </Button>
      </Group>
      {tooMany && <Text size="sm">{t('tooMany', { most: MOST })}</Text>}
      {selection.fault && <FaultNotice fault={selection.fault} retry={selection.everything} />}
    </>
  )
}
