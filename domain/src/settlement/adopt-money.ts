import type { Queryable } from '@tollgate/platform/database/database'
import type { PaymentIntent as ProcessorIntent } from '@tollgate/platform/payments/payment-objects'
import { outcomeOf } from '@tollgate/platform/payments/payment-outcomes'
import { findChangeTo } from '../payments/attempts-repository.ts'
import type { PaymentIntent } from '../payments/payment-intent.ts'
import { priceOf, taxedTermsOf, termsAt } from '../payments/taxed-terms.ts'

/**
 * Returns the intent with the amount that it has at the processor, which one of our calls set. The change is found by its stored
 * attempt, even if the answer of that call was lost. Returns undefined if the processor was read before a later change of the
 * amount, so what was read is outdated.
 */
export async function adoptMoney(
  sql: Queryable,
  providerId: string,
  intent: PaymentIntent,
  payment: ProcessorIntent,
): Promise<PaymentIntent | undefined> {
  const { amountMinor, currency } = payment
  if (currency !== intent.currency) throw otherMoney(intent, payment)
  if (amountMinor === intent.originalAmountMinor) return intent
  const change = await findChangeTo(sql, providerId, intent.reference, amountMinor)
  if (change === undefined && amountMinor !== priceOf(intent)) throw otherMoney(intent, payment)
  if (change?.isLast !== true && !isBeyondChange(payment)) return undefined
  return {
    ...intent,
    ...(change === undefined
      ? { ...termsAt(intent, amountMinor), tax: null }
      : taxedTermsOf(intent, change.request)),
  }
}

/** Returns whether the payment's amount can no longer change. */
function isBeyondChange(payment: ProcessorIntent): boolean {
  const { outcome } = outcomeOf(payment)
  return outcome === 'succeeded' || outcome === 'processing' || outcome === 'canceled'
}

function otherMoney(
  { originalAmountMinor, currency, reference }: PaymentIntent,
  payment: ProcessorIntent,
): Error {
  const asked = `${originalAmountMinor} ${currency}`
  const found = `${payment.amountMinor} ${payment.currency}`
  return new Error(`payment ${reference} is over ${asked}, and ${found} at the processor`)
}
