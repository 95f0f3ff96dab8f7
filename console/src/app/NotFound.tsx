/** The same page for what is not there and for what may not be seen (CO-6). */
import { Anchor, Stack, Text, Title } from '@mantine/core'
import { use } from 'react'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router'

import { PageTitle } from '../ui/PageTitle'
import { OwnerContext } from './owner'

export function NotFound() {
  const { t } = useTranslation()
  const owner = use(OwnerContext)
  return (
    <Stack gap="xs" align="start">
      <PageTitle inner parts={[t('notFound.title'), owner?.name]} />
      {/* Where no page of an owner is around it, it is the page. */}
      <Title order={owner === null ? 1 : 2} size="h2">
        {t('notFound.title')}
      </Title>
      <Text>{t('notFound.text')}</Text>
      <Anchor component={Link} to="/">
        {t('notFound.home')}
      </Anchor>
    </Stack>
  )
}
