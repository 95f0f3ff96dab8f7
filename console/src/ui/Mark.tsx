/** One word about the state of something; a sign and the word itself, never colour alone (CO-9). */
import { Badge } from '@mantine/core'

export function Mark({ sign, children }: { sign?: string; children: string }) {
  return (
    <Badge variant="default" radius="sm" size="sm" tt="none" fw={500}>
      {sign && <span aria-hidden>{sign} </span>}
      {children}
    </Badge>
  )
}
