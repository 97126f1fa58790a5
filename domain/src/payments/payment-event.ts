import { unixSeconds } from '../outbox/unix-seconds.ts'
import { recordEvent, type UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import type { PaymentIntent } from './payment-intent.ts'

/** payment.succeeded, .canceled, and .failed with its reason. */
export async function recordPaymentEvent(
  work: UnitOfWork,
  type: string,
  intent: PaymentIntent,
  failureReason?: string,
): Promise<void> {
  await recordEvent(work, type, {
    id: intent.reference,
    amount: Number(intent.originalAmountMinor),
    currency: intent.currency.toLowerCase(),
    customer: intent.customerRef,
    product: intent.productRef,
    plan: intent.planRef,
    processor_payment_intent: intent.processorPaymentId,
    transaction_reference: intent.reference,
    created: unixSeconds(intent.createdAt),
    ...(failureReason === undefined ? {} : { failure_reason: failureReason }),
  })
}
