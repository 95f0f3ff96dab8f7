/** The same page for what is not there and for what may not be seen (CO-6). */
import { Anchor, Stack, Text, Title } from '@mantine/core'
import { use } from 'react'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router'

import { OwnerContext } from './owner'

export function NotFound() {
  const { t } = useTranslation()
  // Where no page of an owner is around it, it is the page.
  const alone = use(OwnerContext) === null
  return (
    <Stack gap="xs" align="start">
      <Title order={alone ? 1 : 2} size="h2">
        {t('notFound.title')}
      </Title>
      <Text>{t('notFound.text')}</Text>
      <Anchor component={Link} to="/">
        {t('notFound.home')}
      </Anchor>
    </Stack>
  )
}
