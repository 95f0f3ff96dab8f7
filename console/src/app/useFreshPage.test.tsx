import { act, render } from '@testing-library/react'
import { createMemoryRouter, RouterProvider } from 'react-router'
import { expect, it, vi } from 'vitest'

import { useFreshPage } from './useFreshPage'

/** Tells of the size once, as soon as it is looked at. */
class Measured {
  constructor(private readonly tell: () => void) {}
  observe() {
    queueMicrotask(this.tell)
  }
  disconnect() {
    // Nothing is told any more.
  }
}

function Page() {
  useFreshPage()
  return <main id="content" tabIndex={-1} />
}

function scrolled(to: number) {
  Object.defineProperty(window, 'scrollY', { value: to, configurable: true })
  window.dispatchEvent(new Event('scroll'))
}

it('leads back to where one was also if a filter was set there meanwhile', async () => {
  vi.stubGlobal('ResizeObserver', Measured)
  const scroll = vi.spyOn(window, 'scrollTo').mockImplementation(() => undefined)
  vi.spyOn(document.documentElement, 'scrollHeight', 'get').mockReturnValue(9000)
  const router = createMemoryRouter([{ path: '*', element: <Page /> }], { initialEntries: ['/list'] })
  render(<RouterProvider router={router} />)
  const go = (to: string, replace = false) => act(() => router.navigate(to, { replace }))
  scrolled(500)
  await go('/list?type=person', true)
  await go('/one')
  scrolled(0)
  scroll.mockClear()
  await act(() => router.navigate(-1))
  expect(scroll).toHaveBeenCalledWith(0, 500)
})
