/** What the tab of the browser and its history call a page; one at a time. */
import { useEffect } from 'react'
import { useTranslation } from 'react-i18next'

import { named } from './invisible'

export function PageTitle({ parts }: { parts: readonly (string | undefined)[] }) {
  const { t } = useTranslation()
  const product = t('product')
  const shown = parts.flatMap((part) => (part === undefined ? [] : [named(part)]))
  const title = [...shown, product].join(' · ')
  useEffect(() => {
    document.title = title
    return () => {
      document.title = product
    }
  }, [title, product])
  return null
}
