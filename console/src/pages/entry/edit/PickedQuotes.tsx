/** The quotes that a statement is to rest on, each picked from a source (CO-28). */
import { ActionIcon, Blockquote, Button, Group, Select, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'

import { Told } from '../../../ui/Told'
import type { Picked, Role } from './operations'
import { SourcePicker } from './SourcePicker'

const ROLES: readonly Role[] = ['SUPPORTS', 'CONTRADICTS', 'CORRECTS']

export function PickedQuotes({
  quotes,
  onChange,
  hint,
  roles = false,
  most = 20,
}: {
  quotes: readonly Picked[]
  onChange: (quotes: Picked[]) => void
  hint?: string
  /** Whether a quote may also contradict or correct. */
  roles?: boolean
  most?: number
}) {
  const { t } = useTranslation('entry')
  const [picking, setPicking] = useState(false)
  const put = (place: number, role: Role) =>
    onChange(quotes.map((one, at) => (at === place ? { ...one, role } : one)))
  return (
    <div role="group" aria-label={t('quotes.title')}>
      <Text size="sm" fw={500}>
        {t('quotes.title')}
      </Text>
      {hint && (
        <Text size="xs" c="dimmed">
          {hint}
        </Text>
      )}
      <Stack gap="xs" mt={4}>
        {quotes.map((one, place) => (
          <Group key={`${one.source}-${place}`} align="start" wrap="nowrap">
            <Blockquote p="xs" my={0} flex={1}>
              <Told>{one.quote}</Told>
              <Text size="xs" component="div">
                <Told>{one.title}</Told>
              </Text>
            </Blockquote>
            {roles && (
              <Select
                aria-label={t('quotes.role')}
                w={150}
                allowDeselect={false}
                data={ROLES.map((role) => ({ value: role, label: t(`role.${role}`) }))}
                value={one.role}
                onChange={(role) => put(place, role as Role)}
              />
            )}
            <ActionIcon
              variant="default"
              aria-label={t('quotes.remove')}
              onClick={() => onChange(quotes.filter((_, at) => at !== place))}
            >
              ×
            </ActionIcon>
          </Group>
        ))}
        {quotes.length < most && (
          <Group>
            <Button variant="default" size="xs" onClick={() => setPicking(true)}>
              {t('quotes.pick')}
            </Button>
          </Group>
        )}
      </Stack>
      {picking && (
        <SourcePicker
          onClose={() => setPicking(false)}
          onPick={(one) => {
            onChange([...quotes, one])
            setPicking(false)
          }}
        />
      )}
    </div>
  )
}
