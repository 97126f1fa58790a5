import { majorText } from '@tollgate/domain/money/currencies'
import type { Formats } from './formats.ts'

/** Parses a typed amount, with a point or a comma. Returns undefined if the text is not an amount. */
export function parseMajor(text: string): number | undefined {
  return /^\d{1,9}([.,]\d{1,2})?$/.test(text) ? Number(text.replace(',', '.')) : undefined
}

/** Returns an amount as the customer would type it: without its currency, with the decimal separator of the page's language. */
export function amountText(amountMinor: bigint, currency: string, formats: Formats): string {
  const decimalSign = formats.decimal(0.5).charAt(1)
  return majorText(amountMinor, currency).replace('.', decimalSign)
}
