import type { EventObject } from '@tollgate/schemas/event-types'
import { unixSeconds } from '../periods/periods.ts'
import { recordEvent, type UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import type { PaymentIntent } from './payment-intent.ts'

/** Emits the event that a payment succeeded or was canceled. */
export async function recordPaymentEnd(
  work: UnitOfWork,
  type: 'payment.succeeded' | 'payment.canceled',
  intent: PaymentIntent,
): Promise<void> {
  await recordEvent(work, type, paymentObject(intent))
}

export async function recordPaymentFailure(
  work: UnitOfWork,
  intent: PaymentIntent,
  reason: string,
): Promise<void> {
  await recordEvent(work, 'payment.failed', { ...paymentObject(intent), failure_reason: reason })
}

function paymentObject(intent: PaymentIntent): EventObject<'payment.succeeded'> {
  return {
    id: intent.reference,
    amount: Number(intent.originalAmountMinor),
    currency: intent.currency.toLowerCase(),
    customer: intent.customerRef,
    product: intent.productRef,
    plan: intent.planRef,
    processor_payment_intent: intent.processorPaymentId,
    transaction_reference: intent.reference,
    created: unixSeconds(intent.createdAt),
  }
}
