/** Words of the server about a code: its own English, or the reader's language with the server's words below it. */
import { Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'

import { ZH } from './refusals'

export function Refusal({ code, children: said }: { code: string | null; children: string }) {
  const { i18n } = useTranslation()
  if (i18n.language !== 'zh') return <>{said}</>
  const meaning = code === null ? undefined : ZH[code]
  if (meaning === undefined) return <span lang="en">{said}</span>
  return (
    <>
      {meaning}
      {said !== '' && (
        <Text size="xs" c="dimmed" component="span" display="block" lang="en">
          {said}
        </Text>
      )}
    </>
  )
}
