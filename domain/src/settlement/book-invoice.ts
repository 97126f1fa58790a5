import { findRecurringPeriod } from '../invoices/billed-periods.ts'
import { lockInvoice } from '../invoices/repository.ts'
import { payInvoice } from '../invoices/settle-invoice.ts'
import { decideMove, dueMinor } from '../invoices/transitions.ts'
import type { Booking } from './book-plan.ts'
import type { PaymentIntent } from '../payments/payment-intent.ts'
import { together } from '../postgres/together.ts'
import { lockPurchase } from '../purchases/repository.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { dropUnbegun } from '../payments/end-charges.ts'
import { isUnbegun, settlePaid } from '../billing/settle-paid.ts'

/**
 * The invoice is paid, and what it was charged for begins, in the transaction that says that the money is there. What
 * is not due any more, or cannot begin any more, is paid back.
 */
export async function bookInvoice(work: UnitOfWork, intent: PaymentIntent): Promise<Booking> {
  const { sql, providerId } = work
  const { reference, invoiceRef, purchaseRef, originalAmountMinor: amountMinor } = intent
  if (invoiceRef === null) throw new Error(`${reference} pays no invoice`)
  // Everybody locks the purchase before the invoice.
  const [purchase, invoice, period] = await together([
    purchaseRef === null ? undefined : lockPurchase(sql, providerId, purchaseRef),
    lockInvoice(sql, providerId, invoiceRef),
    findRecurringPeriod(sql, providerId, invoiceRef),
  ])
  if (invoice === undefined) throw new Error(`invoice ${invoiceRef} is gone`)
  const isDue = dueMinor(invoice) === amountMinor
  if (!isDue || decideMove(invoice, 'paid', amountMinor).kind !== 'moved') {
    return { kind: 'undeliverable', reason: 'The invoice is not due any more' }
  }
  if (purchase !== undefined && isUnbegun(purchase, period)) {
    if (invoice.status === 'open') await dropUnbegun(work, invoice)
    return { kind: 'undeliverable', reason: 'The purchase does not go on' }
  }
  const paid = await payInvoice(work, invoice, { chargeRef: reference, amountMinor })
  if (purchase !== undefined) await settlePaid(work, purchase, paid, period)
  return { kind: 'booked', purchaseRef }
}
