/** How much of what an Overlay may cost it costs (CO-44, SK-16). */
import { Progress, Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'

export function Tokens({ used, allowed }: { used: number; allowed: number }) {
  const { t } = useTranslation('skills')
  const label = t('tokens', { used, allowed })
  return (
    <div>
      <Text size="xs" c="dimmed">
        {label}
      </Text>
      <Progress value={Math.min(100, (used / Math.max(1, allowed)) * 100)} size="sm" aria-label={label} />
    </div>
  )
}
