/** Gives the focus back to where it was before a dialog that goes away, instead of being closed and kept (CO-9). */
import { useEffect, useState } from 'react'

import { focusPage } from '../app/useFreshPage'

export function useFocusBack(): void {
  const [before] = useState(() => opener(document.activeElement))
  useEffect(
    () => () => {
      // Once the dialog is out of the page; whoever has moved the focus elsewhere keeps it there.
      window.setTimeout(() => {
        if (document.activeElement !== document.body) return
        if (before instanceof HTMLElement && before.isConnected && before !== document.body)
          before.focus({ preventScroll: true })
        else focusPage()
      })
    },
    [before],
  )
}

/** What is there again afterwards: of an item of a menu, the button that opens the menu. */
function opener(focused: Element | null): Element | null {
  const menu = focused?.closest('[role=menu]')
  const button = menu?.getAttribute('aria-labelledby')
  return button ? document.getElementById(button) : focused
}
