/** Markdown of others: HTML is shown as what was typed, no script, no pictures from elsewhere, links that tell nobody where they are (CO-10). */
import { Anchor, Code } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import ReactMarkdown, { type Components } from 'react-markdown'

import { markInvisible } from './markInvisible'

function Picture({ alt }: { alt: string }) {
  const { t } = useTranslation('ui')
  return <Code>{t('image', { alt })}</Code>
}

const PLUGINS = [markInvisible]

const COMPONENTS: Components = {
  a: ({ href, children }) =>
    href === undefined || href === '' ? (
      <>{children}</>
    ) : (
      <Anchor href={href} target="_blank" rel="noopener noreferrer nofollow">
        {children}
      </Anchor>
    ),
  img: ({ alt }) => <Picture alt={alt ?? ''} />,
}

/** Words of plain texts inside are marked as `Told` does. */
export function Markdown({ children }: { children: string }) {
  return (
    <div className="markdown">
      <ReactMarkdown components={COMPONENTS} rehypePlugins={PLUGINS}>
        {children}
      </ReactMarkdown>
    </div>
  )
}
