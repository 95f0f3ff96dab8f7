/** A moment in an address may be anything that somebody typed there (CO-6). */
const MOMENT = /^\d{4}-\d{2}-\d{2}T\S+$/

/** The text if it is a moment of RFC 3339, else an empty one, as if it had not been given. */
export const momentIn = (text: string): string =>
  MOMENT.test(text) && !Number.isNaN(Date.parse(text)) ? text : ''
