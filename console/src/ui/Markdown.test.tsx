import { MantineProvider } from '@mantine/core'
import { render, screen } from '@testing-library/react'
import { expect, test } from 'vitest'

import { Markdown } from './Markdown'

const shown = (text: string) =>
  render(
    <MantineProvider>
      <Markdown>{text}</Markdown>
    </MantineProvider>,
  )

test('shows HTML as what was typed and makes nothing of it', () => {
  const { container } = shown('Hello <script>alert(1)</script> <img src=x onerror=alert(2)>')
  expect(container.querySelector('script, img')).toBeNull()
  expect(container).toHaveTextContent('<script>alert(1)</script>')
})

test('leads nowhere by a script, and elsewhere without telling from where', () => {
  shown('[a](javascript:alert(1)) [b](https://good.example/)')
  const links = screen.getAllByRole('link')
  expect(links.map((link) => link.textContent)).toEqual(['b'])
  expect(links[0]).toHaveAttribute('rel', 'noopener noreferrer nofollow')
})

test('names invisible characters, also in HTML', () => {
  const { container } = shown('a\u202eb <b>\u200b</b>')
  expect(container).toHaveTextContent('aU+202Eb <b>U+200B</b>')
})
