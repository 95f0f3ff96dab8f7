/** What one entry said at two moments, field by field and statement by statement. */
import { Anchor, Badge, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router'

import { useOwner } from '../../app/owner'
import { entryPath } from '../../app/paths'
import { Told } from '../../ui/Told'
import { WordDiff } from '../../ui/WordDiff'
import { type Change, compare, differs } from './differences'
import type { Pair } from './useBeliefs'

export function OneComparison({ pair }: { pair: Pair }) {
  const { t } = useTranslation('compare')
  const owner = useOwner()
  const difference = compare(pair.then, pair.later)
  const name = pair.later?.name ?? pair.then?.name ?? ''
  return (
    <Paper withBorder p="md" component="section" aria-label={name}>
      <Stack gap="xs">
        <Group justify="space-between">
          <Title order={3} size="h5">
            {pair.later ? (
              <Anchor component={Link} to={entryPath(owner.id, pair.id)} inherit>
                <Told>{name}</Told>
              </Anchor>
            ) : (
              <Told>{name}</Told>
            )}
          </Title>
          <Badge variant="outline" color="gray" c="var(--mantine-color-text)">
            {t(verdictOf(pair, differs(difference)))}
          </Badge>
        </Group>
        {!differs(difference) && <Text size="sm">{t('nothing')}</Text>}
        <Changes of={difference.fields} title={(id) => t(id as 'name')} />
        <Changes of={difference.statements} heading={t('statements')} />
        <Changes of={difference.relations} heading={t('relations')} />
        {pair.cut && (
          <Text size="sm" c="dimmed">
            {t('cut')}
          </Text>
        )}
      </Stack>
    </Paper>
  )
}

function verdictOf(pair: Pair, changed: boolean): 'added' | 'removed' | 'changed' | 'same' {
  if (!pair.then) return 'added'
  if (!pair.later) return 'removed'
  return changed ? 'changed' : 'same'
}

function Changes({
  of,
  heading,
  title,
}: {
  of: readonly Change[]
  heading?: string
  title?: (id: string) => string
}) {
  const moved = of.filter(({ kind }) => kind !== 'same')
  if (moved.length === 0) return null
  return (
    <div>
      {heading !== undefined && (
        <Title order={4} size="h6" mb={4}>
          {heading}
        </Title>
      )}
      <Stack gap="xs">
        {moved.map((one) => (
          <OneChange key={one.id} change={one} title={title?.(one.id)} />
        ))}
      </Stack>
    </div>
  )
}

function OneChange({ change, title }: { change: Change; title: string | undefined }) {
  const { t } = useTranslation('compare')
  return (
    <Group align="start" gap="xs" wrap="nowrap">
      <Text size="xs" c="dimmed" w={{ base: 56, sm: 90 }} style={{ flexShrink: 0 }}>
        {title ?? t(change.kind)}
      </Text>
      <Text size="sm" component="div">
        <WordDiff before={change.before} after={change.after} />
      </Text>
    </Group>
  )
}
