/** What the lint found, by the rule that the address names. */
import type { ResultOf } from '../../api/graphql'
import { usePages } from '../../api/usePages'
import { useFilters } from '../../app/useFilters'
import { LINT } from './documents'

export const RULES = ['DATED_NAME', 'NEAR_NAME', 'LONG_ENTRY', 'NO_BLOCKS'] as const
export type LintRule = (typeof RULES)[number]
export type Finding = ResultOf<typeof LINT>['lint']['edges'][number]['node']

const NAMES = ['lint'] as const

export function useLint(owner: string, everyMs: number) {
  const filters = useFilters(NAMES)
  const rule = RULES.find((one) => one === filters.get('lint'))
  const findings = usePages(LINT, { owner, rules: rule ? [rule] : null }, (data) => data.lint, { everyMs })
  return { findings, rule, onRule: (chosen: string) => filters.set({ lint: chosen }) }
}
