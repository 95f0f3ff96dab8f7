/** One selector for all tabs; a change keeps the tab and clears its filters (CO-1, CO-3). */
import { Select } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { useNavigate } from 'react-router'

import { named } from '../ui/invisible'
import type { Owner } from './owner'
import { type Tab, tabPath } from './paths'
import { useOwners } from './useOwners'

/** Of the field before the owner is known, too: it keeps its place. */
export const OWNER_WIDTH = 222

export function OwnerSelect({ owner, tab }: { owner: Owner; tab: Tab }) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const owners = useOwners()
  const known = (owners.rows ?? []).map((one) => ({ value: one.id, label: named(one.displayName) }))
  const listed = known.some((one) => one.value === owner.id)
  return (
    <Select
      label={t('owner')}
      w={OWNER_WIDTH}
      placeholder={t('ownerPlaceholder')}
      searchable
      allowDeselect={false}
      nothingFoundMessage={t('ownerNone')}
      data={listed ? known : [{ value: owner.id, label: named(owner.name) }, ...known]}
      value={owner.id}
      onChange={(chosen) => {
        if (chosen !== null && chosen !== owner.id) void navigate(tabPath(chosen, tab))
      }}
    />
  )
}
