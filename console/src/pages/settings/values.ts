/** Values of settings as one types them, and back. */
import type { ResultOf } from '../../api/graphql'
import type { SETTING } from './documents'

export type Setting = ResultOf<typeof SETTING>
type Shape = Pick<Setting, 'takes' | 'nullable'>

/** What stands in the field: a line for each text of a list. */
export function typed(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (Array.isArray(value)) return value.join('\n')
  return `${value as string | number | boolean}`
}

/** The value that was typed; undefined if it is of another type. Its range is the server's to judge. */
export function parsed({ takes, nullable }: Shape, text: string): unknown {
  const given = text.trim()
  if (given === '' && nullable) return null
  switch (takes) {
    case 'BOOLEAN':
      return given === 'true' ? true : given === 'false' ? false : undefined
    case 'INTEGER':
      return /^-?\d+$/.test(given) ? Number(given) : undefined
    case 'NUMBER':
      return /^-?\d+(\.\d+)?$/.test(given) ? Number(given) : undefined
    case 'TEXTS':
      return text.split('\n').filter((line) => line.trim() !== '')
    default:
      return given === '' ? undefined : given
  }
}

export type Group = { name: string; settings: Setting[] }

/** Settings by what stands before their dot, in the order of their names. */
export function groups(settings: readonly Setting[], search: string): Group[] {
  const found = new Map<string, Setting[]>()
  for (const setting of settings) {
    if (!setting.name.includes(search.trim().toLowerCase())) continue
    const name = setting.name.split('.')[0] ?? setting.name
    found.set(name, [...(found.get(name) ?? []), setting])
  }
  return [...found].map(([name, inside]) => ({ name, settings: inside }))
}
