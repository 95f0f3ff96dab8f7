/** What did not work, with its code and a way on (CO-5, CO-8). */
import { Alert, Button, Code, Group, Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'

import { type Fault, UNREACHABLE } from '../api/fault'
import { Refusal } from './Refusal'

export function FaultNotice({
  fault,
  said,
  retry,
}: {
  fault: Fault
  /** In place of the server's words, where the page knows better ones. */
  said?: string
  retry?: (() => void) | undefined
}) {
  const { t } = useTranslation('ui')
  const known = fault.code === UNREACHABLE ? t('unreachable') : said
  return (
    <Alert role="alert" color="red" title={t('failed')}>
      <Text size="sm" className="text">
        {known ?? <Refusal code={fault.code}>{fault.message}</Refusal>}
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
