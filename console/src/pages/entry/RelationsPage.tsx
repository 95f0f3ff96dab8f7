/** The relations of the entry as a picture and a table; loaded only when they are looked at. */
import { RelationExplorer } from '../relations/RelationExplorer'
import { useOpenEntry } from './entry'

export default function RelationsPage() {
  const { entry } = useOpenEntry()
  return <RelationExplorer entryId={entry.id} />
}
