import type { Queryable } from '@tollgate/platform/database/database'
import type { PaymentIntent as ProcessorIntent } from '@tollgate/platform/payments/payment-objects'
import { outcomeOf } from '@tollgate/platform/payments/payment-outcomes'
import { findChangeTo } from '../payments/attempts-repository.ts'
import type { PaymentIntent } from '../payments/payment-intent.ts'
import { priceOf, taxedTermsOf, termsAt } from '../payments/taxed-terms.ts'

/**
 * The intent over the money that it is over at the processor: one of our calls made it that. Whether anybody kept that
 * call's answer does not matter. Undefined: the look was taken before a change that has happened since, and says nothing
 * any more.
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

/** Its amount is what it will have been. */
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
