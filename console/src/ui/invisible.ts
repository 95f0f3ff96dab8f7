/** Characters that turn or hide text: bidi controls, zero-width and other format characters, tags. */
const INVISIBLE = /[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\u00ad\u061c\u180e]|[\u{e0000}-\u{e007f}]/u

export type Piece = { text: string; mark: boolean }

/** Cuts a text at characters that one cannot see, so that they can be shown as marks. */
export function pieces(text: string): Piece[] {
  const found: Piece[] = []
  for (const char of text) {
    const mark = INVISIBLE.test(char)
    const last = found.at(-1)
    if (last && !mark && !last.mark) last.text += char
    else found.push({ text: char, mark })
  }
  return found
}

/** `U+202E` for the character itself. */
export function codePoint(char: string): string {
  return `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
}
