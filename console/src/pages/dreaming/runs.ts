/** What can be said of a run: pure functions. */
import type { Run } from './queries'

/** A run that has not ended; no second one can be started beside it (CO-48). */
export const active = (run: Pick<Run, 'stage' | 'state'>): boolean =>
  run.stage === 'B' && (run.state === 'QUEUED' || run.state === 'RUNNING')

export const ended = (run: Pick<Run, 'state'>): boolean => run.state === 'SUCCEEDED' || run.state === 'FAILED'

/** It succeeded because there was nothing to do (CO-48). */
export const foundNothing = (run: Run): boolean =>
  run.state === 'SUCCEEDED' && run.materialsProcessed + run.operations + run.skillUpdates + run.rejected === 0

/** Per cent with one decimal (CO-50). */
export function perCent(rate: number, language: string): string {
  const style = { style: 'percent', minimumFractionDigits: 1, maximumFractionDigits: 1 } as const
  return new Intl.NumberFormat(language, style).format(rate)
}
