/** What did not work, with its code and a way on (CO-5, CO-8). */
import { Alert, Button, Code, Group, Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'

import { type Fault, UNREACHABLE } from '../api/fault'

export function FaultNotice({ fault, retry }: { fault: Fault; retry?: (() => void) | undefined }) {
  const { t } = useTranslation('ui')
  return (
    <Alert role="alert" color="red" title={t('failed')}>
      <Text size="sm" className="text">
        {fault.code === UNREACHABLE ? t('unreachable') : fault.message}
      </Text>
      <Group mt="xs">
        <Code>{fault.code}</Code>
        {retry && (
          <Button size="xs" variant="default" onClick={retry}>
            {t('retry')}
          </Button>
        )}
      </Group>
    </Alert>
  )
}
