/** How long texts may be, in the unit of the server: code points after NFC (KN-21, SK-13). Pure. */
export const MOST = {
  name: 200,
  alias: 100,
  summary: 600,
  text: 2000,
  reason: 1000,
  title: 200,
  lesson: 600,
  guide: 8000,
} as const

export type Limited = keyof typeof MOST

/** How many more characters a text may have; less than none if it is too long. Blanks around it are not kept. */
export const left = (text: string, of: Limited): number =>
  MOST[of] - Array.from(text.trim().normalize('NFC')).length

export const fits = (text: string, of: Limited): boolean => left(text, of) >= 0

/** Whether so few are left that one wants to know. */
export const isNear = (text: string, of: Limited): boolean => left(text, of) <= MOST[of] / 10

/** Whether it can be kept as the reason of a change (CO-24). */
export const isReason = (text: string): boolean => text.trim() !== '' && fits(text, 'reason')
