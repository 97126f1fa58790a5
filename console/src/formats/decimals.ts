/** Returns the decimal text with its point moved to the right, or to the left for negative places. Every digit is kept. */
export function movePoint(text: string, places: number): string {
  const match = /^(-?)(\d*)(?:\.(\d*))?$/.exec(text.trim())
  const [, sign = '', whole = '', fraction = ''] = match ?? []
  if (match === null || whole + fraction === '') return text
  const digits = whole + fraction
  const point = whole.length + places
  const padded = digits.padStart(digits.length + Math.max(0, 1 - point), '0')
  const at = Math.max(point, 1)
  const left = padded
    .slice(0, at)
    .padEnd(at, '0')
    .replace(/^0+(?=\d)/, '')
  const right = padded.slice(at).replace(/0+$/, '')
  return `${sign}${left}${right === '' ? '' : `.${right}`}`
}

/** Returns whether the text is a number without a sign, a group separator or an exponent, and with at most 6 decimals. */
export function isNumberText(text: string): boolean {
  return /^\d{1,12}(?:\.\d{1,6})?$/.test(text.trim())
}
