import { majorText } from '../money/currencies.ts'
import { dollarCents } from '../money/dollar-amount.ts'
import {
  priceOfBreakdown,
  taxFromJson,
  taxToJson,
  type TaxBreakdown,
  type TaxBreakdownJson,
} from '../invoices/tax-breakdown.ts'
import type { JsonObject } from '@tollgate/schemas/json-object'
import type { Money } from '../money-ledger/postings.ts'
import type { PaymentIntent } from './payment-intent.ts'

/** Eight digits: the most that one payment can be over, in minor units of its currency. */
export const chargeMinorMax = 99_999_999n

export type TaxedTerms = Pick<PaymentIntent, 'amountMinor' | 'originalAmountMinor' | 'tax'>

/** What the payment was made over, whatever tax came to it since: minor units of its currency. */
export function priceOf({ tax, originalAmountMinor }: PaymentIntent): bigint {
  return tax === null ? originalAmountMinor : priceOfBreakdown(tax)
}

/** The same payment over another amount, at the exchange rate that it was made with. */
export function termsAt(
  { currency, exchangeRate }: Pick<PaymentIntent, 'currency' | 'exchangeRate'>,
  originalAmountMinor: bigint,
): Omit<TaxedTerms, 'tax'> {
  const amountMinor = dollarCents(originalAmountMinor, currency, exchangeRate)
  return { amountMinor, originalAmountMinor }
}

/** What was bought cost, without the tax that came to it. */
export function untaxedTermsOf(intent: PaymentIntent): Omit<TaxedTerms, 'tax'> {
  return termsAt(intent, priceOf(intent))
}

/** Why the amount with its tax cannot be charged at once. */
export function refusalOfTotal({ totalMinor }: TaxBreakdown, currency: string): string | undefined {
  if (totalMinor <= chargeMinorMax) return undefined
  return `With its tax the amount must not exceed ${majorText(chargeMinorMax, currency)} ${currency}`
}

/** The words of a change, and what comes of them. */
export function changeTo(tax: TaxBreakdown): JsonObject {
  return { originalAmountMinor: tax.totalMinor.toString(), tax: taxToJson(tax) }
}

export function taxedTermsOf(intent: PaymentIntent, change: JsonObject): TaxedTerms {
  const tax = taxFromJson(change['tax'] as TaxBreakdownJson)
  return { ...termsAt(intent, tax.totalMinor), tax }
}

/** Returns what was sold, without its tax. */
export function netOf(intent: PaymentIntent): Money {
  const { currency, originalAmountMinor } = intent
  return { currency, amountMinor: originalAmountMinor - taxOf(intent) }
}

/** Returns the tax of the payment, 0 if it has none. */
export function taxOf({ tax }: Pick<PaymentIntent, 'tax'>): bigint {
  return tax?.taxMinor ?? 0n
}
