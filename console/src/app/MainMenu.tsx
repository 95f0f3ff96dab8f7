/** What is outside of the six tabs: settings, language, colours, sign-out. */
import { Button, Menu, useMantineColorScheme } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router'

import { type Language, LANGUAGES, speak } from '../i18n'
import { useSession, useSessionState } from '../session/current'
import { useConfig } from './ConfigGate'
import { DEVELOPERS_PATH, SETTINGS_PATH } from './paths'

const SCHEMES = ['light', 'dark', 'auto'] as const

export function MainMenu() {
  const { t } = useTranslation()
  const { token } = useSessionState()
  const session = useSession()
  return (
    <Menu position="bottom-end" width={220}>
      <Menu.Target>
        <Button variant="default" size="xs">
          {t('menu')}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {token !== null && <Pages />}
        <Languages />
        <Schemes />
        {token !== null && (
          <>
            <Menu.Divider />
            <Menu.Item onClick={() => session.signOut()}>{t('signOut')}</Menu.Item>
          </>
        )}
      </Menu.Dropdown>
    </Menu>
  )
}

function Pages() {
  const { t } = useTranslation()
  const { graphiql } = useConfig()
  return (
    <>
      <Menu.Item component={Link} to={SETTINGS_PATH}>
        {t('settings')}
      </Menu.Item>
      {graphiql && (
        <Menu.Item component={Link} to={DEVELOPERS_PATH}>
          {t('developers')}
        </Menu.Item>
      )}
      <Menu.Divider />
    </>
  )
}

function Languages() {
  const { t, i18n } = useTranslation()
  return (
    <>
      <Menu.Label>{t('language')}</Menu.Label>
      {(Object.keys(LANGUAGES) as Language[]).map((language) => (
        <Menu.Item
          key={language}
          lang={language}
          aria-current={i18n.language === language}
          leftSection={i18n.language === language ? '✓' : ' '}
          onClick={() => void speak(language)}
        >
          {LANGUAGES[language]}
        </Menu.Item>
      ))}
    </>
  )
}

function Schemes() {
  const { t } = useTranslation()
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  return (
    <>
      <Menu.Label>{t('scheme')}</Menu.Label>
      {SCHEMES.map((scheme) => (
        <Menu.Item
          key={scheme}
          aria-current={colorScheme === scheme}
          leftSection={colorScheme === scheme ? '✓' : ' '}
          onClick={() => setColorScheme(scheme)}
        >
          {t(`schemes.${scheme}`)}
        </Menu.Item>
      ))}
    </>
  )
}
