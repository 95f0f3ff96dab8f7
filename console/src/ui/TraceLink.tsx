/** One click from a statement to its sources (CO-16). */
import { Anchor } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router'

import { useOwner } from '../app/owner'
import { tracePath } from '../app/paths'

export function TraceLink({ node, what }: { node: string; what?: string }) {
  const { t } = useTranslation('ui')
  const owner = useOwner()
  return (
    <Anchor
      component={Link}
      to={tracePath(owner.id, node)}
      size="sm"
      aria-label={what === undefined ? t('trace') : t('traceOf', { what })}
    >
      {t('trace')}
    </Anchor>
  )
}
