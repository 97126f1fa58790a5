import { dollarCents } from '../money/dollar-amount.ts'
import {
  priceOfBreakdown,
  taxFromJson,
  taxToJson,
  type TaxBreakdown,
  type TaxBreakdownJson,
} from '../tax/tax-breakdown.ts'
import type { JsonObject } from '@tollgate/schemas/json-object'
import type { PaymentIntent } from './payment-intent.ts'

export type TaxedTerms = Pick<PaymentIntent, 'amountMinor' | 'originalAmountMinor' | 'tax'>

/** What the payment was made over, whatever tax came to it since: minor units of its currency. */
export function priceOf({ tax, originalAmountMinor }: PaymentIntent): bigint {
  return tax === null ? originalAmountMinor : priceOfBreakdown(tax)
}

/** The same payment over another amount, at the exchange rate that it was made with. */
export function termsAt(
  { currency, exchangeRate }: PaymentIntent,
  originalAmountMinor: bigint,
): Omit<TaxedTerms, 'tax'> {
  const amountMinor = dollarCents(originalAmountMinor, currency, exchangeRate)
  return { amountMinor, originalAmountMinor }
}

/** The words of a change, and what comes of them. */
export function changeTo(tax: TaxBreakdown): JsonObject {
  return { originalAmountMinor: tax.totalMinor.toString(), tax: taxToJson(tax) }
}

export function taxedTermsOf(intent: PaymentIntent, change: JsonObject): TaxedTerms {
  const tax = taxFromJson(change['tax'] as TaxBreakdownJson)
  return { ...termsAt(intent, tax.totalMinor), tax }
}
