import { setTimeout as sleep } from 'node:timers/promises'
import type { Operation } from '../unit-of-work/unit-of-work.ts'
import type { PaymentIntent } from '../payments/payment-intent.ts'
import type { PaymentParts } from '../payments/payment-parts.ts'
import { reconcileIntent } from './reconcile-intent.ts'

export type AwaitedPayment =
  | { readonly kind: 'succeeded'; readonly intent: PaymentIntent }
  | { readonly kind: 'canceled' }
  /** The card was declined. The customer can try another card on the same payment. */
  | { readonly kind: 'failed' }
  /** No payment method was tried yet. */
  | { readonly kind: 'unconfirmed' }
  /** The bank is still processing the payment. */
  | { readonly kind: 'processing' }
  /** The customer or the processor has not answered in time. */
  | { readonly kind: 'late' }

/** Pause between two checks of a payment while a client waits for it. */
const pauseMs = 500

/** Waits until the payment is final or `waitMs` have passed. */
export async function awaitPayment(
  parts: PaymentParts,
  operation: Operation,
  reference: string,
  waitMs: number,
): Promise<AwaitedPayment> {
  const deadline = performance.now() + waitMs
  for (;;) {
    const intent = await reconcileIntent(parts, operation, reference)
    if (intent === undefined) throw new Error(`payment ${reference} is gone`)
    const leftMs = deadline - performance.now()
    const settled = outcomeIfKnown(intent, leftMs <= 0)
    if (settled !== undefined) return settled
    await sleep(Math.min(pauseMs, Math.max(leftMs, 0)))
  }
}

function outcomeIfKnown(intent: PaymentIntent, isLate: boolean): AwaitedPayment | undefined {
  switch (intent.status) {
    case 'succeeded':
      return { kind: 'succeeded', intent }
    case 'canceled':
    case 'failed':
      return { kind: intent.status }
    case 'requires_payment_method':
      return { kind: intent.declinedCharges.length > 0 ? 'failed' : 'unconfirmed' }
    case 'processing':
      return isLate ? { kind: 'processing' } : undefined
    case 'creating':
    case 'requires_action':
      return isLate ? { kind: 'late' } : undefined
  }
}
