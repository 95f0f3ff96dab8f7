/** How many of a list are shown, and the way to more (CO-7); after the last of them the number has the focus (CO-9). */
import { Button, Group, Loader, Text } from '@mantine/core'
import { useEffect, useRef } from 'react'
import { useTranslation } from 'react-i18next'

export function ShownOf({
  shown,
  total,
  onMore,
  busy = false,
}: {
  shown: number
  total: number
  /** Shows more of them; undefined where all are shown. */
  onMore: (() => void) | undefined
  busy?: boolean
}) {
  const { t } = useTranslation('ui')
  const number = useRef<HTMLParagraphElement>(null)
  const pressed = useRef(false)
  const all = onMore === undefined
  useEffect(() => {
    // The button that had the focus has just gone.
    if (all && pressed.current && document.activeElement === document.body) number.current?.focus()
    if (all) pressed.current = false
  }, [all])
  return (
    <Group mt="sm">
      <Text ref={number} tabIndex={-1} size="sm" c="dimmed" role="status">
        {t('shownOf', { shown, total })}
      </Text>
      {onMore && (
        <Button
          variant="default"
          size="xs"
          // Not `loading`, which disables it: it keeps the focus, so that a key can press it again.
          aria-busy={busy}
          leftSection={busy && <Loader size={12} color="gray" />}
          onClick={() => {
            pressed.current = true
            if (!busy) onMore()
          }}
        >
          {t('more')}
        </Button>
      )}
    </Group>
  )
}
