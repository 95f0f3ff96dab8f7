/** Six questions that people have, always at the foot of Status (CO-77 to CO-83). */
import { Accordion, Anchor, List, Paper, Text, Title } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router'

import { useOwner } from '../../app/owner'
import { SETTINGS_PATH, tabPath } from '../../app/paths'
import { QUESTIONS, type Place } from './questions'

export function Help() {
  const { t } = useTranslation('status')
  return (
    <Paper component="section" withBorder p="md" id="help" aria-labelledby="help-title">
      <Title order={3} size="h4" id="help-title" mb="xs">
        {t('help.title')}
      </Title>
      <Accordion multiple variant="separated" order={4}>
        {Object.entries(QUESTIONS).map(([key, steps]) => (
          <Question key={key} name={key as keyof typeof QUESTIONS} steps={steps} />
        ))}
      </Accordion>
    </Paper>
  )
}

function Question({ name, steps }: { name: keyof typeof QUESTIONS; steps: readonly (readonly Place[])[] }) {
  const { t } = useTranslation('status')
  return (
    <Accordion.Item value={name}>
      <Accordion.Control>{t(`help.${name}.question`)}</Accordion.Control>
      <Accordion.Panel>
        <List type="ordered" spacing="xs">
          {steps.map((places, number) => (
            <List.Item key={number}>
              <Text size="sm">{t(`help.${name}.step${number === 0 ? '1' : '2'}`)}</Text>
              {places.map((place) => (
                <Lead key={place} to={place} />
              ))}
            </List.Item>
          ))}
        </List>
      </Accordion.Panel>
    </Accordion.Item>
  )
}

function Lead({ to }: { to: Place }) {
  const { t } = useTranslation('status')
  const owner = useOwner()
  return (
    <Anchor component={Link} to={address(owner.id, to)} size="sm" me="md">
      {t(`help.place.${to}`)}
    </Anchor>
  )
}

function address(owner: string, place: Place): string {
  if (place === 'settings') return `${SETTINGS_PATH}?agent=${encodeURIComponent(owner)}`
  if (place === 'entries' || place === 'materials' || place === 'audit') return tabPath(owner, place)
  return `${tabPath(owner, 'status')}#${place}`
}
