/** True from the first moment on that something is so: what has been shown once is not taken away by a later read. */
import { useState } from 'react'

export function useOnce(now: boolean): boolean {
  const [been, setBeen] = useState(now)
  if (now && !been) setBeen(true)
  return been || now
}
