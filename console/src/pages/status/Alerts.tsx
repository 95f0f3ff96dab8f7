/** What is wrong now, worst first, each with where it is followed up (CO-69). */
import { Anchor, Badge, Code, Group, Paper, Stack, Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router'

import { Told } from '../../ui/Told'
import { When } from '../../ui/When'
import { AffectedObject } from './AffectedObject'
import { Section } from './Section'
import type { Status } from './StatusPage'
import { en } from './texts'

type Shown = Status['alerts'][number]

const COLOURS = { ERROR: 'red', WARNING: 'orange', INFO: 'blue' } as const
const ORDER = ['ERROR', 'WARNING', 'INFO']
const NAMED = 5

export function Alerts({ alerts }: { alerts: readonly Shown[] }) {
  const { t } = useTranslation('status')
  const ordered = [...alerts].sort(
    (one, other) => ORDER.indexOf(one.severity) - ORDER.indexOf(other.severity),
  )
  return (
    <Section id="alerts" title={t('alerts.title')}>
      {ordered.length === 0 && <Text>{t('alerts.none')}</Text>}
      <Stack component="ul" gap="xs" p={0} m={0} aria-label={t('alerts.title')}>
        {ordered.map((alert) => (
          <OneAlert key={alert.code} alert={alert} />
        ))}
      </Stack>
    </Section>
  )
}

function OneAlert({ alert }: { alert: Shown }) {
  const { t } = useTranslation('status')
  const affected = alert.objectIds.length + alert.hiddenObjects
  return (
    <Paper
      component="li"
      withBorder
      display="block"
      p="sm"
      data-code={alert.code}
      style={{ borderInlineStart: `4px solid var(--mantine-color-${COLOURS[alert.severity]}-6)` }}
    >
      <Stack gap={4}>
        <Group gap="xs">
          <Badge variant="default">{t(`severity.${alert.severity}`)}</Badge>
          <Code>{alert.code}</Code>
          <Text size="sm">
            {t('alerts.since')} <When at={alert.since} />
          </Text>
        </Group>
        <Text size="sm">{isKnown(alert.code) ? t(`alert.${alert.code}`) : <Told>{alert.message}</Told>}</Text>
        {affected > 0 && (
          <Group gap="xs">
            <Text size="sm">{t('alerts.affected', { count: affected })}</Text>
            {alert.objectIds.slice(0, NAMED).map((id) => (
              <AffectedObject key={id} id={id} />
            ))}
            {alert.hiddenObjects > 0 && (
              <Text size="sm">{t('alerts.hidden', { count: alert.hiddenObjects })}</Text>
            )}
          </Group>
        )}
        <Anchor component={Link} to={alert.link.replace(/^\/console/, '')} size="sm">
          {t('alerts.follow')}
        </Anchor>
      </Stack>
    </Paper>
  )
}

const isKnown = (code: string): code is keyof typeof en.alert => code in en.alert
