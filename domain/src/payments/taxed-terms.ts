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
import { priceLine } from '../pricing/price-line.ts'
import type { IntentDiscount, PaymentIntent } from './payment-intent.ts'

/** Largest amount of one payment: 8 digits, in minor units of its currency. */
export const chargeMinorMax = 99_999_999n

export type TaxedTerms = Pick<
  PaymentIntent,
  'amountMinor' | 'originalAmountMinor' | 'fromBalanceMinor' | 'tax'
>

/** Returns the price with tax: what the processor charges, and what the balance pays. Minor units of the payment's currency. */
export function totalPriceOf({
  originalAmountMinor,
  fromBalanceMinor,
}: Pick<PaymentIntent, 'originalAmountMinor' | 'fromBalanceMinor'>): bigint {
  return originalAmountMinor + fromBalanceMinor
}

/** Returns the price that the payment was created for, before tax was calculated. Minor units of its currency. */
export function priceBeforeTax(intent: PaymentIntent): bigint {
  return intent.tax === null ? totalPriceOf(intent) : priceOfBreakdown(intent.tax)
}

/** Returns a discounted price before its discounts. Minor units. */
export function listPriceOf(
  priceMinor: bigint,
  discounts: readonly Pick<IntentDiscount, 'inputs'>[] = [],
): bigint {
  return discounts.reduce((sum, { inputs }) => sum - priceLine(inputs).amountMinor, priceMinor)
}

/** Returns the amounts of the payment for another total, at the exchange rate of its creation. */
export function termsForTotal(
  { currency, exchangeRate }: Pick<PaymentIntent, 'currency' | 'exchangeRate'>,
  originalAmountMinor: bigint,
): Pick<PaymentIntent, 'amountMinor' | 'originalAmountMinor'> {
  const amountMinor = dollarCents(originalAmountMinor, currency, exchangeRate)
  return { amountMinor, originalAmountMinor }
}

/** Returns the amounts of the price, without tax that was added, whoever pays them. */
export function untaxedTermsOf(
  intent: PaymentIntent,
): Pick<PaymentIntent, 'amountMinor' | 'originalAmountMinor'> {
  return termsForTotal(intent, priceBeforeTax(intent))
}

/** Returns why the total with tax exceeds what one payment can charge, undefined if it does not. */
export function totalTooLargeReason(
  { totalMinor }: TaxBreakdown,
  currency: string,
): string | undefined {
  if (totalMinor <= chargeMinorMax) return undefined
  return `With its tax the amount must not exceed ${majorText(chargeMinorMax, currency)} ${currency}`
}

/** Returns the parameters of a call that sets these amounts. `taxedTermsOf` reads them. */
export function amountChangeTo({
  originalAmountMinor,
  fromBalanceMinor,
  tax,
}: Omit<TaxedTerms, 'amountMinor'>): JsonObject {
  return {
    originalAmountMinor: originalAmountMinor.toString(),
    tax: tax && taxToJson(tax),
    ...(fromBalanceMinor > 0n && { fromBalanceMinor: fromBalanceMinor.toString() }),
  }
}

/** Returns the amounts that a call of `amountChangeTo` has set. */
export function taxedTermsOf(intent: PaymentIntent, change: JsonObject): TaxedTerms {
  const { originalAmountMinor, fromBalanceMinor = '0', tax } = change
  return {
    ...termsForTotal(intent, BigInt(String(originalAmountMinor))),
    fromBalanceMinor: BigInt(String(fromBalanceMinor)),
    tax: tax === null ? null : taxFromJson(tax as TaxBreakdownJson),
  }
}

/** Returns what was sold, without its tax. */
export function netAmountOf(intent: PaymentIntent): Money {
  return { currency: intent.currency, amountMinor: totalPriceOf(intent) - taxOf(intent) }
}

/** Returns the tax of the payment, 0 if it has none. */
export function taxOf({ tax }: Pick<PaymentIntent, 'tax'>): bigint {
  return tax?.taxMinor ?? 0n
}
