import { findRecurringPeriod } from '../invoices/billed-periods.ts'
import { carryOver } from '../invoices/issue-invoice.ts'
import { lockInvoice } from '../invoices/repository.ts'
import { dueMinor } from '../invoices/transitions.ts'
import type { PaymentIntent } from '../payments/payment-intent.ts'
import { lockPurchase } from '../purchases/repository.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { dropUnbegun } from '../payments/end-charges.ts'
import { isUnbegun, settlePaid } from './settle-paid.ts'

/**
 * The payment of an invoice has ended without money. What was withdrawn with its purchase is not owed; what else was too
 * little for the processor waits for the customer's next invoice. Anything else is charged again by another payment.
 */
export async function settleUnpaid(
  work: UnitOfWork,
  { reference, invoiceRef, purchaseRef }: PaymentIntent,
  isTooSmall: boolean,
): Promise<void> {
  if (invoiceRef === null) return
  const { sql, providerId } = work
  const purchase =
    purchaseRef === null ? undefined : await lockPurchase(sql, providerId, purchaseRef)
  const invoice = await lockInvoice(sql, providerId, invoiceRef)
  if (invoice?.status !== 'open') return
  const period = await findRecurringPeriod(sql, providerId, invoiceRef)
  const isDropped = purchase !== undefined && isUnbegun(purchase, period)
  const owed = isDropped ? await dropUnbegun(work, invoice) : invoice
  if (!isTooSmall || owed.status !== 'open') return
  const carried = await carryOver(work, owed, dueMinor(owed), reference)
  if (purchase !== undefined) await settlePaid(work, purchase, carried, period)
}
