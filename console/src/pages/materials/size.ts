/** `1.5 MiB` for a number of bytes, in the reader's language. */
export function shownSize(bytes: number, language: string): string {
  const units = ['B', 'KiB', 'MiB', 'GiB']
  const step = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10))
  const value = bytes / 1024 ** step
  const number = new Intl.NumberFormat(language, { maximumFractionDigits: step === 0 ? 0 : 1 }).format(value)
  return `${number} ${units[step] ?? ''}`
}
