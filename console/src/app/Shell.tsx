/** The frame of every page: name, menu, and the page itself; without a token, the sign-in. */
import { AppShell, Box, Container, Group, Paper, Title } from '@mantine/core'
import { Suspense } from 'react'
import { useTranslation } from 'react-i18next'
import { Outlet, useLocation } from 'react-router'

import { useSessionState } from '../session/current'
import { SignInForm } from '../session/SignInForm'
import { PageTitle } from '../ui/PageTitle'
import { Loading } from '../ui/Remote'
import { Brand } from './Brand'
import { MainMenu } from './MainMenu'
import { CONTENT, useFreshPage } from './useFreshPage'

export function Shell() {
  const { t } = useTranslation()
  const { token } = useSessionState()
  const { pathname } = useLocation()
  useFreshPage()
  if (token === null && pathname !== '/signed-in') return <SignInPage />
  return (
    <AppShell header={{ height: 52 }} padding="md">
      <a className="skip" href={`#${CONTENT}`}>
        {t('skip')}
      </a>
      <AppShell.Header>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Brand />
          <MainMenu />
        </Group>
      </AppShell.Header>
      <AppShell.Main id={CONTENT} tabIndex={-1}>
        <Container size="xl" p={0}>
          <Suspense fallback={<Loading />}>
            <Outlet />
          </Suspense>
        </Container>
      </AppShell.Main>
    </AppShell>
  )
}

function SignInPage() {
  const { t } = useTranslation()
  return (
    <Box component="main" maw={420} mx="auto" mt={{ base: 'md', sm: '10vh' }} p="md">
      <PageTitle parts={[t('signIn.title')]} />
      <Group justify="space-between" mb="md">
        <Brand />
        <MainMenu />
      </Group>
      <Paper withBorder p="lg">
        <Title order={1} size="h3" mb="sm">
          {t('signIn.title')}
        </Title>
        <SignInForm />
      </Paper>
    </Box>
  )
}
