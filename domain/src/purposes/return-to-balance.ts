import type { Invoice } from '../invoices/invoice.ts'
import type { PaymentIntent } from '../payments/payment-intent.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { endRefundedPeriod } from './end-refunded.ts'
import type { FinalRefund } from './payment-handler.ts'
import { findHandler } from './payment-handlers.ts'

/**
 * Does what follows after part of a paid invoice was returned to the customer's balance: the same as after a refund of its payment.
 * `intent`: that payment, locked; undefined if the invoice was paid without the payment processor. The invoice is already credited.
 */
export async function applyReturnToBalance(
  work: UnitOfWork,
  { purchaseRef, reference: invoiceRef }: Invoice,
  intent: PaymentIntent | undefined,
  refund: Pick<FinalRefund, 'id' | 'amountMinor'>,
): Promise<void> {
  // Sales always have a payment, even if the balance paid everything. Other invoices charge a period or usage.
  if (intent === undefined) return endRefundedPeriod(work, { purchaseRef, invoiceRef })
  const handler = await findHandler(work, intent)
  await handler.onRefunded(work, intent, { ...refund, isReturned: false })
}
