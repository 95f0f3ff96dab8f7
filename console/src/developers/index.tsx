/** Pages for developers of clients; only where the server says that they are on. */
import { NotFound } from '../app/NotFound'

export default function Developers() {
  return <NotFound />
}
