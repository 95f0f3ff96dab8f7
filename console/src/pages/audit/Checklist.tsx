/** Five things to look for in a review, each with its prepared view (CO-61, CO-62). */
import { Anchor, Button, Collapse, List, Paper, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useId } from 'react'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router'

import { useOwner } from '../../app/owner'
import { tabPath } from '../../app/paths'
import { dayBefore } from './filters'

const RECENT_DAYS = 7

export function Checklist() {
  const { t } = useTranslation('audit')
  const [opened, { toggle }] = useDisclosure(false)
  const id = useId()
  return (
    <div>
      <Button variant="default" size="xs" aria-expanded={opened} aria-controls={id} onClick={toggle}>
        {t('review.title')}
      </Button>
      <Collapse expanded={opened} id={id}>
        <Paper withBorder p="md" mt="xs">
          <Points />
        </Paper>
      </Collapse>
    </div>
  )
}

function Points() {
  const { t } = useTranslation(['audit', 'shell'])
  const owner = useOwner()
  const audit = tabPath(owner.id, 'audit')
  const from = dayBefore(new Date(), RECENT_DAYS)
  const recent = `${audit}?op=block.create&op=block.edit&kind=DREAMING&from=${from}`
  return (
    <List type="ordered" spacing="sm">
      <Point text={t('review.passing')} links={[[recent, t('review.recent')]]} />
      <Point text={t('review.rule')} links={[[`${audit}?review=OUT_OF_FORCE`, t('review.OUT_OF_FORCE')]]} />
      <Point
        text={t('review.repeats')}
        links={[
          [`${tabPath(owner.id, 'status')}#lint`, t('review.near')],
          [`${audit}?review=CONTESTED`, t('review.CONTESTED')],
        ]}
      />
      <Point text={t('review.firm')} links={[[`${audit}?review=NOTE_ONLY`, t('review.NOTE_ONLY')]]} />
      <Point
        text={t('review.skills')}
        links={[[tabPath(owner.id, 'skill-experience'), t('shell:tabs.skill-experience')]]}
      />
    </List>
  )
}

function Point({ text, links }: { text: string; links: readonly (readonly [string, string])[] }) {
  return (
    <List.Item>
      <Stack gap={0}>
        <Text size="sm">{text}</Text>
        {links.map(([to, name]) => (
          <Anchor key={to} component={Link} to={to} size="sm">
            {name}
          </Anchor>
        ))}
      </Stack>
    </List.Item>
  )
}
