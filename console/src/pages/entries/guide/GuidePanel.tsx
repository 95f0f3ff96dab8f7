/** The one Curation Guide of the owner, above the list of entries (CO-31, CO-32). */
import { Button, Code, Collapse, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'

import type { ResultOf } from '../../../api/graphql'
import type { Read } from '../../../api/useRead'
import { mayCurate, useOwner } from '../../../app/owner'
import { FaultNotice } from '../../../ui/FaultNotice'
import { Markdown } from '../../../ui/Markdown'
import { Told } from '../../../ui/Told'
import { When } from '../../../ui/When'
import { GuideEditor } from './GuideEditor'
import { partsOf } from './outline'
import { GUIDE } from './queries'

export type Guide = NonNullable<ResultOf<typeof GUIDE>['curationGuide']>

export function GuidePanel({ read, onSaved }: { read: Read<ResultOf<typeof GUIDE>>; onSaved: () => void }) {
  const { t } = useTranslation('entries')
  const [opened, { toggle }] = useDisclosure(false)
  const [editing, setEditing] = useState<{ guide: Guide | null }>()
  const guide = read.data?.curationGuide ?? null
  const saved = () => {
    setEditing(undefined)
    read.reload()
    onSaved()
  }
  return (
    <Paper withBorder p="sm" component="section" aria-labelledby="guide-title">
      <Group justify="space-between" mih={36}>
        <Group gap="xs">
          <Title order={3} size="h5" id="guide-title">
            {t('guide.title')}
          </Title>
          {guide && (
            <Told>{t('guide.version', { version: guide.version, by: guide.modifier.displayName })}</Told>
          )}
          {guide && (
            <Text size="sm" c="dimmed">
              <When at={guide.updatedAt} />
            </Text>
          )}
          {read.data && !guide && (
            <Text size="sm" c="dimmed">
              {t('guide.none')}
            </Text>
          )}
        </Group>
        {read.data && editing === undefined && (
          <Group gap="xs">
            {guide && (
              <Button
                variant="subtle"
                size="compact-sm"
                onClick={toggle}
                aria-expanded={opened}
                aria-controls="guide-text"
              >
                {opened ? t('guide.hide') : t('guide.show')}
              </Button>
            )}
            <Write guide={guide} onEdit={() => setEditing({ guide })} />
          </Group>
        )}
      </Group>
      {read.fault && <FaultNotice fault={read.fault} retry={read.reload} />}
      {editing && (
        <GuideEditor guide={editing.guide} onSaved={saved} onCancel={() => setEditing(undefined)} />
      )}
      {editing === undefined && guide && (
        <Collapse expanded={opened} id="guide-text">
          <GuideText text={guide.text} />
        </Collapse>
      )}
    </Paper>
  )
}

function Write({ guide, onEdit }: { guide: Guide | null; onEdit: () => void }) {
  const { t } = useTranslation('entries')
  const owner = useOwner()
  if (!mayCurate(owner)) return null
  return (
    <Button variant="default" size="xs" onClick={onEdit}>
      {guide ? t('guide.edit') : t('guide.write')}
    </Button>
  )
}

function GuideText({ text }: { text: string }) {
  const { front, body } = partsOf(text)
  return (
    <Stack gap="xs" mt="xs">
      {front !== '' && (
        <Code block>
          <Told>{front}</Told>
        </Code>
      )}
      <Markdown>{body}</Markdown>
    </Stack>
  )
}
