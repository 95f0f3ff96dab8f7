/** A button that makes room for a form, and has the focus again once that is left (CO-9). */
import { type RefObject, useEffect, useRef } from 'react'

export function useReturning(formOpen: boolean): RefObject<HTMLButtonElement | null> {
  const button = useRef<HTMLButtonElement>(null)
  const before = useRef(formOpen)
  useEffect(() => {
    if (before.current && !formOpen && document.activeElement === document.body) button.current?.focus()
    before.current = formOpen
  }, [formOpen])
  return button
}
