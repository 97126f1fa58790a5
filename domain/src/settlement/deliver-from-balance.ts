import { holdCarried } from '../invoices/carried-amounts.ts'
import { insertIntent, updateIntent } from '../payments/intents-repository.ts'
import { recordPaymentEnd } from '../payments/payment-event.ts'
import type { PaymentIntent } from '../payments/payment-intent.ts'
import { invoiceSale } from '../purposes/invoice-sale.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { bookPayment } from './deliver-payment.ts'
import { newIntent, type IntentDraft } from './open-intent.ts'

/** The sale that the balance pays for cannot be delivered. The caller's transaction must not commit. */
export class UndeliverableError extends Error {
  override readonly name = 'UndeliverableError'
}

/**
 * Delivers a sale that the customer's balance or discounts pay as a whole. Its payment is stored as succeeded without the processor, and the
 * credit is held only until the invoice takes it in the same transaction. So a crash leaves either nothing or the sale with its
 * invoice. The caller has locked the customer, and a balance that pays. Throws `UndeliverableError`.
 */
export async function deliverFromBalance(
  work: UnitOfWork,
  draft: IntentDraft,
  hostedUrl: string,
): Promise<PaymentIntent> {
  const { sql, providerId, now } = work
  const intent: PaymentIntent = {
    ...newIntent(work, draft),
    status: 'succeeded',
    nextLookAt: null,
    succeededAt: now,
  }
  if (intent.originalAmountMinor !== 0n) throw new Error(`${intent.reference} has a rest to charge`)
  await insertIntent(sql, providerId, intent)
  await holdCarried(sql, providerId, intent, intent.fromBalanceMinor, now)
  const booking = await bookPayment(work, intent, hostedUrl)
  if (booking.kind === 'undeliverable') throw new UndeliverableError(booking.reason)
  const { purchaseRef, sale } = booking
  if (sale === undefined) throw new Error(`${intent.reference} sold nothing`)
  const paid = { ...intent, purchaseRef, invoiceRef: await invoiceSale(work, intent, sale) }
  await updateIntent(sql, providerId, paid)
  await recordPaymentEnd(work, 'payment.succeeded', paid)
  return paid
}
