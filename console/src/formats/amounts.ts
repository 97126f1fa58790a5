import { fractionDigitsOf } from '@tollgate/schemas/minor-units'

const formats = new Map<string, Intl.NumberFormat>()

/** For some currencies, browsers show other digits than those of the minor units, so the digits are set. */
function formatOf(currency: string, digits: number): Intl.NumberFormat {
  const known = formats.get(currency)
  if (known !== undefined) return known
  const format = new Intl.NumberFormat('en-US', {
    ...{ style: 'currency', currency },
    ...{ minimumFractionDigits: digits, maximumFractionDigits: digits },
  })
  formats.set(currency, format)
  return format
}

/**
 * Formats an amount in minor units of its currency. Amounts are whole numbers of at most 15 digits, whose division by a power of ten
 * is exact enough for every shown digit.
 */
export function formatAmount(amountMinor: number, currency: string): string {
  const code = currency.toUpperCase()
  const digits = fractionDigitsOf(code)
  return formatOf(code, digits).format(amountMinor / 10 ** digits)
}

const counts = new Intl.NumberFormat('en-US', { maximumFractionDigits: 6 })

/** Formats a number of units or credits. The API sends numbers that must keep every digit as decimal text. */
export function formatCount(value: number | string): string {
  return counts.format(typeof value === 'string' ? (value as Intl.StringNumericLiteral) : value)
}

/** Returns the count with its noun in the correct number. */
export function formatNumberOf(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`
}
