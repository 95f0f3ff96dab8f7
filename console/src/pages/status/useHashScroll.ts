/** Shows the section that the address names, as soon as there is something to show. */
import { useEffect } from 'react'
import { useLocation } from 'react-router'

export function useHashScroll(ready: boolean): void {
  const { hash, key } = useLocation()
  useEffect(() => {
    if (ready && hash !== '') document.getElementById(hash.slice(1))?.scrollIntoView()
  }, [ready, hash, key])
}
