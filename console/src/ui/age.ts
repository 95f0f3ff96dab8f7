/** How long ago a moment is, in the largest unit that fits. Pure. */
const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const

/** Such as `31 minutes ago`; times that are still to come count as now. */
export function ageOf(at: string, now: number, language: string): string {
  const ms = Math.max(0, now - Date.parse(at))
  const [unit, length] = UNITS.find(([, size]) => ms >= size) ?? (['second', 1000] as const)
  return new Intl.RelativeTimeFormat(language).format(-Math.floor(ms / length), unit)
}
