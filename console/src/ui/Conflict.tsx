/** Somebody else was faster: both texts side by side, and nothing is overwritten unseen (CO-29). */
import { Alert, Button, Group, Paper, SimpleGrid, Text, Title } from '@mantine/core'
import { useTranslation } from 'react-i18next'

import { Told } from './Told'
import { WordDiff } from './WordDiff'

export function Conflict({
  mine,
  theirs,
  version,
  onTakeTheirs,
  onKeepMine,
}: {
  mine: string
  theirs: string
  /** The version that is there now. */
  version: number
  onTakeTheirs: () => void
  /** Go on with the own text, now on top of the version that was shown. */
  onKeepMine: () => void
}) {
  const { t } = useTranslation('ui')
  return (
    <Alert role="alert" color="orange" title={t('conflict.title', { version })}>
      <Text size="sm" mb="xs">
        {t('conflict.text')}
      </Text>
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <Side title={t('conflict.mine')} text={mine} />
        <Side title={t('conflict.theirs', { version })} text={theirs} />
      </SimpleGrid>
      <Paper withBorder p="xs" mt="xs">
        <Title order={4} size="h6">
          {t('conflict.diff')}
        </Title>
        <WordDiff before={theirs} after={mine} />
      </Paper>
      <Group mt="sm">
        <Button variant="default" size="xs" onClick={onKeepMine}>
          {t('conflict.keepMine')}
        </Button>
        <Button variant="default" size="xs" onClick={onTakeTheirs}>
          {t('conflict.takeTheirs')}
        </Button>
      </Group>
    </Alert>
  )
}

function Side({ title, text }: { title: string; text: string }) {
  return (
    <Paper withBorder p="xs" component="section" aria-label={title}>
      <Title order={4} size="h6">
        {title}
      </Title>
      <Told>{text}</Told>
    </Paper>
  )
}
