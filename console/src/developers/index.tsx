/** Pages for developers of clients; only where the server says that they are on. */
import { lazy, Suspense } from 'react'

import { useConfig } from '../app/ConfigGate'
import { NotFound } from '../app/NotFound'
import { Loading } from '../ui/Remote'

const Workbench = lazy(() => import('./Workbench'))

export default function Developers() {
  const { graphiql } = useConfig()
  if (!graphiql) return <NotFound />
  return (
    <Suspense fallback={<Loading />}>
      <Workbench />
    </Suspense>
  )
}
