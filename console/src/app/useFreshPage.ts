/** Begins another page at its head, and one that one comes back to where it was left (CO-9). */
import { useEffect, useLayoutEffect, useRef } from 'react'
import { NavigationType, useLocation, useNavigationType } from 'react-router'

export const CONTENT = 'content'

export function useFreshPage(): void {
  const { pathname, hash } = useLocation()
  const how = useNavigationType()
  const before = useRef(pathname)
  useEffect(() => {
    if (before.current === pathname) return
    before.current = pathname
    // Who was sent on has not begun yet.
    if (how === NavigationType.Replace) return
    // Tabs and selectors stay where they are, and keep the focus.
    if (how === NavigationType.Push && hash === '' && !isOfPage(document.activeElement)) window.scrollTo(0, 0)
    // Where the last page took the focus with it, the next key must not start anywhere.
    if (document.activeElement === document.body) focusPage()
  }, [pathname, hash, how])
  useScrollBack()
}

export function focusPage(): void {
  document.getElementById(CONTENT)?.focus({ preventScroll: true })
}

const isOfPage = (focused: Element | null): boolean =>
  focused?.matches('[role=tab], [role=combobox]') ?? false

/** How far down each page of this visit was, by the key of its place in the history. */
const places = new Map<string, number>()

/** What is read again comes piece by piece: so long one waits until the page is as long as it was. */
const PATIENCE_MS = 5000

/** What a person does who does not want to be taken anywhere any more. */
const OWN_MOVES = ['wheel', 'touchmove', 'pointerdown', 'keydown'] as const

function useScrollBack(): void {
  const { key, hash } = useLocation()
  const how = useNavigationType()
  // In the same moment in which the page changes: a shorter page moves by itself, and that is not where one was.
  useLayoutEffect(() => {
    const wanted = how === NavigationType.Pop && hash === '' ? places.get(key) : undefined
    const stop = wanted === undefined ? undefined : scrollWhenLongEnough(wanted)
    const keep = () => places.set(key, window.scrollY)
    // The same page under another key, as when a filter is set.
    if (how === NavigationType.Replace) keep()
    window.addEventListener('scroll', keep, { passive: true })
    return () => {
      stop?.()
      window.removeEventListener('scroll', keep)
    }
  }, [key, hash, how])
}

/** Returns what ends the waiting. */
function scrollWhenLongEnough(wanted: number): () => void {
  const look = () => {
    if (document.documentElement.scrollHeight - window.innerHeight < wanted) return
    stop()
    window.scrollTo(0, wanted)
  }
  const growing = new ResizeObserver(look)
  const timer = window.setTimeout(() => stop(), PATIENCE_MS)
  const stop = () => {
    growing.disconnect()
    window.clearTimeout(timer)
    OWN_MOVES.forEach((move) => window.removeEventListener(move, stop))
  }
  growing.observe(document.body)
  OWN_MOVES.forEach((move) => window.addEventListener(move, stop, { passive: true }))
  return stop
}
