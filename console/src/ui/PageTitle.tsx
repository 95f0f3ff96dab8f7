/** What the tab of the browser and its history call a page (WCAG 2.4.2). */
import { useEffect } from 'react'
import { useTranslation } from 'react-i18next'

import { named } from './invisible'

type Shown = { title: string; inner: boolean }

const shown: Shown[] = []

/** `parts` are names, the most special first; `inner` is the page within a frame, whose own title then steps back. */
export function PageTitle({
  parts,
  inner = false,
}: {
  parts: readonly (string | undefined)[]
  inner?: boolean
}) {
  const { t } = useTranslation()
  const product = t('product')
  const told = parts.flatMap((part) => (part === undefined ? [] : [named(part)]))
  const title = [...told, product].join(' · ')
  useEffect(() => {
    const mine = { title, inner }
    shown.push(mine)
    tell(product)
    return () => {
      shown.splice(shown.indexOf(mine), 1)
      tell(product)
    }
  }, [title, inner, product])
  return null
}

function tell(otherwise: string): void {
  const chosen = shown.find(({ inner }) => inner) ?? shown.at(-1)
  document.title = chosen?.title ?? otherwise
}
