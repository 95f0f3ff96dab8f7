/** How much of what Dreaming wrote was still there after the observation period (CO-49, CO-50). */
import { Group, Paper, Text, Title } from '@mantine/core'
import { useTranslation } from 'react-i18next'

import { useRead } from '../../api/useRead'
import { Remote } from '../../ui/Remote'
import { SURVIVAL } from './queries'
import { perCent } from './runs'

export function Survival({ agent }: { agent: string }) {
  const { t, i18n } = useTranslation('dreaming')
  const read = useRead(SURVIVAL, { agent })
  return (
    <Paper withBorder p="md" mih="7.5rem" component="section" aria-label={t('survival.title')}>
      <Title order={3} size="h4">
        {t('survival.title')}
      </Title>
      <Remote read={read} pick={(data) => data.survivalRate}>
        {({ survived, cohort, rate, windowDays }) => (
          <>
            <Group gap="md" align="baseline">
              {rate === null ? (
                <Text fw={700}>{t('survival.none')}</Text>
              ) : (
                <>
                  <Text fw={700} size="xl">
                    {perCent(rate, i18n.language)}
                  </Text>
                  <Text>{t('survival.of', { survived, cohort })}</Text>
                </>
              )}
            </Group>
            <Text size="sm" c="dimmed">
              {t('survival.window', { days: windowDays })} {t('survival.meaning')}
            </Text>
          </>
        )}
      </Remote>
    </Paper>
  )
}
