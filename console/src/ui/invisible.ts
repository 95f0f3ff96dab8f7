/**
 * Characters that turn or hide text: all that Unicode lets a browser leave out (bidi controls, zero-width ones, fillers,
 * tags, variation selectors), controls other than white space, line separators, and the signs of annotations.
 */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}|(?![\t\n\r])\p{Cc}|[\u2028\u2029\ufff9-\ufffb]/u

/** What may be followed by one selector that says whether it is a picture or a sign. */
const PRESENTED = /[\p{Emoji}]$/u

export type Piece = { text: string; mark: boolean }

/** Cuts a text at characters that one cannot see, so that they can be shown as marks. */
export function pieces(text: string): Piece[] {
  const found: Piece[] = []
  for (const char of text) {
    const last = found.at(-1)
    const mark = INVISIBLE.test(char) && !(last && !last.mark && presents(char, last.text))
    if (last && !mark && !last.mark) last.text += char
    else found.push({ text: char, mark })
  }
  return found
}

const presents = (char: string, before: string): boolean =>
  (char === '\ufe0e' || char === '\ufe0f') && PRESENTED.test(before)

/** `U+202E` for the character itself. */
export function codePoint(char: string): string {
  return `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
}

/** A text for where there is room for nothing but text, such as an option or a picture: marks become their names. */
export function named(text: string): string {
  return pieces(text)
    .map((piece) => (piece.mark ? `⟨${codePoint(piece.text)}⟩` : piece.text))
    .join('')
}
