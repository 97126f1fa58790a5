import type { Queryable } from '@tollgate/platform/database/database'
import type { PaymentIntent as ProcessorIntent } from '@tollgate/platform/payments/payment-objects'
import { outcomeOf } from '@tollgate/platform/payments/payment-outcomes'
import { findAmountChange } from '../payments/attempts-repository.ts'
import type { PaymentIntent } from '../payments/payment-intent.ts'
import { priceBeforeTax, taxedTermsOf, termsForTotal } from '../payments/taxed-terms.ts'

/**
 * Returns the intent with the amount that it has at the processor, which one of our calls set. The change is found by its stored
 * attempt, even if the answer of that call was lost. Returns undefined if the processor was read before a later change of the
 * amount, so what was read is outdated.
 */
export async function withProcessorAmount(
  sql: Queryable,
  providerId: string,
  intent: PaymentIntent,
  payment: ProcessorIntent,
): Promise<PaymentIntent | undefined> {
  const { amountMinor, currency } = payment
  if (currency !== intent.currency) throw amountMismatch(intent, payment)
  if (amountMinor === intent.originalAmountMinor) return intent
  const change = await findAmountChange(sql, providerId, intent.reference, amountMinor)
  if (change === undefined && amountMinor !== priceBeforeTax(intent))
    throw amountMismatch(intent, payment)
  if (change?.isLast !== true && !isAmountFinal(payment)) return undefined
  return {
    ...intent,
    ...(change === undefined
      ? { ...termsForTotal(intent, amountMinor), fromBalanceMinor: 0n, tax: null }
      : taxedTermsOf(intent, change.request)),
  }
}

/** Returns whether the payment's amount can no longer change. */
function isAmountFinal(payment: ProcessorIntent): boolean {
  const { outcome } = outcomeOf(payment)
  return outcome === 'succeeded' || outcome === 'processing' || outcome === 'canceled'
}

function amountMismatch(
  { originalAmountMinor, currency, reference }: PaymentIntent,
  payment: ProcessorIntent,
): Error {
  const expected = `${originalAmountMinor} ${currency}`
  const found = `${payment.amountMinor} ${payment.currency}`
  return new Error(`payment ${reference} has ${expected}, but the processor has ${found}`)
}
