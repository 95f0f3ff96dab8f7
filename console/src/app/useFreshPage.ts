/** Begins another page at its head: where the last one took the focus with it, the next key must not start anywhere (CO-9). */
import { useEffect, useRef } from 'react'
import { NavigationType, useLocation, useNavigationType } from 'react-router'

export const CONTENT = 'content'

export function useFreshPage(): void {
  const { pathname, hash } = useLocation()
  const how = useNavigationType()
  const before = useRef(pathname)
  useEffect(() => {
    if (before.current === pathname) return
    before.current = pathname
    // Tabs and selectors stay where they are, and keep the focus; who was sent on has not begun yet.
    if (how === NavigationType.Replace || document.activeElement !== document.body) return
    focusPage()
    if (how === NavigationType.Push && hash === '') window.scrollTo(0, 0)
  }, [pathname, hash, how])
}

export function focusPage(): void {
  document.getElementById(CONTENT)?.focus({ preventScroll: true })
}
