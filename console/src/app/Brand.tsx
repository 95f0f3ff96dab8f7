import { Anchor, Group, Image } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router'

export function Brand() {
  const { t } = useTranslation()
  return (
    <Anchor component={Link} to="/" underline="never" c="inherit" fw={700}>
      <Group gap="xs" wrap="nowrap">
        <Image src="/console/icon.svg" alt="" w={24} h={24} />
        {t('product')}
      </Group>
    </Anchor>
  )
}
