/** Finds an entry by its name, aliases, summary or body, among those that the user may read at the owner. */
import { Select } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'

import { graphql } from '../api/graphql'
import { useRead } from '../api/useRead'
import { useOwner } from '../app/owner'
import { named } from './invisible'

const FOUND = graphql(`
  query EntriesFound($owner: ID!, $filter: EntryFilter) {
    entries(ownerId: $owner, filter: $filter, first: 20) {
      edges {
        node {
          id
          name
          type
          readOnly
          knowledgeBase {
            id
          }
        }
      }
    }
  }
`)

export type FoundEntry = { id: string; name: string; type: string; readOnly: boolean; base: string }

export function EntrySelect({
  label,
  description,
  value,
  onChange,
  fits = () => true,
  error,
  required = true,
}: {
  label: string
  description?: string
  value: FoundEntry | null
  onChange: (entry: FoundEntry | null) => void
  /** Which of the found ones can be chosen. */
  fits?: (entry: FoundEntry) => boolean
  error?: string | undefined
  required?: boolean
}) {
  const { t } = useTranslation('ui')
  const owner = useOwner()
  const [typed, setTyped] = useState('')
  const [text] = useDebouncedValue(typed, 150)
  // What stands in the field once something is chosen is its name, and no question.
  const asked = value !== null && text === named(value.name) ? '' : text
  const read = useRead(FOUND, { owner: owner.id, filter: asked.trim() === '' ? null : { text: asked } })
  const found = (read.data?.entries.edges ?? [])
    .map(({ node }): FoundEntry => ({ ...node, base: node.knowledgeBase.id }))
    .filter(fits)
  const all = value === null || found.some((one) => one.id === value.id) ? found : [value, ...found]
  return (
    <Select
      label={label}
      description={description}
      required={required}
      searchable
      clearable
      data={all.map((one) => ({ value: one.id, label: named(one.name) }))}
      filter={({ options }) => options}
      value={value?.id ?? null}
      searchValue={typed}
      onSearchChange={setTyped}
      onChange={(id) => onChange(all.find((one) => one.id === id) ?? null)}
      nothingFoundMessage={t(read.loading ? 'loading' : 'noEntry')}
      clearButtonProps={{ 'aria-label': t('clearOne') }}
      error={error}
    />
  )
}
