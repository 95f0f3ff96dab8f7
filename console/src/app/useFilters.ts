/** Filters in the address: what is set survives a reload and can be sent to somebody (CO-6). */
import { useCallback, useMemo } from 'react'
import { useSearchParams } from 'react-router'

export type Filters<K extends string> = {
  /** The value of a filter; an empty text if it is not set. */
  get: (name: K) => string
  /** The values of a filter that takes several. */
  all: (name: K) => string[]
  set: (changes: Partial<Record<K, string | readonly string[] | null>>) => void
  clear: () => void
  any: boolean
}

export function useFilters<K extends string>(names: readonly K[]): Filters<K> {
  const [params, setParams] = useSearchParams()
  const set = useCallback(
    (changes: Partial<Record<K, string | readonly string[] | null>>) => {
      setParams((before) => changed(before, changes as Record<string, string | readonly string[] | null>), {
        replace: true,
      })
    },
    [setParams],
  )
  return useMemo(
    () => ({
      get: (name) => params.get(name) ?? '',
      all: (name) => params.getAll(name),
      set,
      clear: () => {
        set(Object.fromEntries(names.map((name) => [name, null])) as Record<K, null>)
      },
      any: names.some((name) => params.has(name)),
    }),
    [params, set, names],
  )
}

function changed(
  before: URLSearchParams,
  changes: Record<string, string | readonly string[] | null>,
): URLSearchParams {
  const after = new URLSearchParams(before)
  for (const [name, value] of Object.entries(changes)) {
    after.delete(name)
    const values = typeof value === 'string' ? [value] : (value ?? [])
    values
      .filter((one) => one !== '')
      .forEach((one) => {
        after.append(name, one)
      })
  }
  return after
}
