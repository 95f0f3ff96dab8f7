/** How far the upload of a file has come (CO-34). */
import { Progress, Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'

export function SentBar({ sent }: { sent: number | undefined }) {
  const { t } = useTranslation('ui')
  if (sent === undefined) return null
  const percent = Math.round(sent * 100)
  return (
    <div>
      <Text size="sm" role="status">
        {percent < 100 ? t('sending', { percent }) : t('sentAll')}
      </Text>
      <Progress value={percent} animated={percent === 100} aria-label={t('upload')} />
    </div>
  )
}
