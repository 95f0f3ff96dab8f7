import { Title } from '@mantine/core'
import { useTranslation } from 'react-i18next'

export function Component() {
  const { t } = useTranslation('status')
  return <Title order={2}>{t('title')}</Title>
}
