/** Asks before a page is left on which something is typed and not saved. */
import { Button, Group, Modal, Text } from '@mantine/core'
import { createContext, type ReactNode, use, useCallback, useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useBlocker } from 'react-router'

const Typing = createContext<(change: 1 | -1) => void>(() => undefined)

/** A form says so while it holds what is not saved. */
export function useTyping(unsaved: boolean): void {
  const tell = use(Typing)
  useEffect(() => {
    if (!unsaved) return undefined
    tell(1)
    return () => tell(-1)
  }, [unsaved, tell])
}

/** Around the forms of a page; one at a time, since an address can be held back only once. */
export function KeepTyped({ children }: { children: ReactNode }) {
  const { t } = useTranslation('ui')
  const [forms, setForms] = useState(0)
  const tell = useCallback((change: 1 | -1) => setForms((before) => before + change), [])
  const blocker = useBlocker(
    ({ currentLocation, nextLocation }) => forms > 0 && currentLocation.pathname !== nextLocation.pathname,
  )
  useHoldTab(forms > 0)
  return (
    <Typing value={tell}>
      {children}
      <Modal
        opened={blocker.state === 'blocked'}
        onClose={() => blocker.reset?.()}
        title={t('unsaved.title')}
        closeButtonProps={{ 'aria-label': t('close') }}
      >
        <Text size="sm">{t('unsaved.text')}</Text>
        <Group justify="end" mt="md">
          <Button variant="default" onClick={() => blocker.proceed?.()}>
            {t('unsaved.leave')}
          </Button>
          <Button data-autofocus onClick={() => blocker.reset?.()}>
            {t('unsaved.stay')}
          </Button>
        </Group>
      </Modal>
    </Typing>
  )
}

/** The browser asks in its own words before the tab is closed. */
function useHoldTab(held: boolean): void {
  useEffect(() => {
    if (!held) return undefined
    const hold = (event: BeforeUnloadEvent) => event.preventDefault()
    window.addEventListener('beforeunload', hold)
    return () => window.removeEventListener('beforeunload', hold)
  }, [held])
}
