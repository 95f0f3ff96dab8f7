/** The Skill experience tab: what Dreaming and the Agent wrote to the Overlays, read-only (CO-42). */
import { Stack, Text, Title } from '@mantine/core'
import { useTranslation } from 'react-i18next'

import { usePages } from '../../api/usePages'
import { useOwner } from '../../app/owner'
import { Rows } from '../../ui/Rows'
import { OverlayCard } from './OverlayCard'
import { OVERLAYS } from './queries'

export function Component() {
  const { t } = useTranslation('skills')
  const owner = useOwner()
  const pages = usePages(OVERLAYS, { owner: owner.id, after: null }, (data) => data.skillOverlays)
  return (
    <Stack>
      <Title order={2} size="h4">
        {t('title')}
      </Title>
      <Text size="sm" c="dimmed">
        {t('intro')}
      </Text>
      <div>
        <Rows pages={pages} empty={t('none')}>
          {(rows) => (
            <Stack>
              {rows.map((overlay) => (
                <OverlayCard key={overlay.id} of={overlay} />
              ))}
            </Stack>
          )}
        </Rows>
      </div>
    </Stack>
  )
}
