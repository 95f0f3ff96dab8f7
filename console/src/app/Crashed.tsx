/** A fault of the console itself, or a part of it that could not be loaded. */
import { Alert, Button } from '@mantine/core'
import { useTranslation } from 'react-i18next'

export function Crashed() {
  const { t } = useTranslation()
  return (
    <Alert role="alert" color="red" title={t('crashed.title')} m="md">
      <p>{t('crashed.text')}</p>
      <Button
        variant="default"
        onClick={() => {
          window.location.reload()
        }}
      >
        {t('crashed.retry')}
      </Button>
    </Alert>
  )
}
