/** The configuration of vectors, of the whole workspace (CO-64). */
import { Anchor, Code, Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router'

import { SETTINGS_PATH } from '../../app/paths'
import { When } from '../../ui/When'
import { Facts, Section } from './Section'
import type { Status } from './StatusPage'

export function Embedding({ embedding }: { embedding: Status['embedding'] }) {
  const { t } = useTranslation('status')
  const { provider, model, dimensions, failures, lastError, nextTryAt } = embedding
  return (
    <Section id="embedding" title={t('embedding.title')}>
      {provider === null ? (
        <Text>{t('embedding.none')}</Text>
      ) : (
        <Facts
          facts={[
            [t('embedding.provider'), provider],
            [t('vectors.model'), model ?? '–'],
            [t('embedding.dimensions'), dimensions ?? '–'],
            [t('embedding.failures'), failures],
            [t('lastError'), lastError === null ? '–' : <Code key="code">{lastError}</Code>],
            [t('nextTry'), nextTryAt === null ? '–' : <When key="when" at={nextTryAt} />],
          ]}
        />
      )}
      <Anchor component={Link} to={SETTINGS_PATH} size="sm">
        {t('embedding.settings')}
      </Anchor>
    </Section>
  )
}
