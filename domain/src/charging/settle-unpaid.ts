import { findRecurringPeriod } from '../invoices/billed-periods.ts'
import { carryOver } from '../invoices/issue-invoice.ts'
import { lockInvoice } from '../invoices/repository.ts'
import { dueMinor } from '../invoices/transitions.ts'
import { chargesUsage } from '../invoices/unpaid.ts'
import type { PaymentIntent } from '../payments/payment-intent.ts'
import { lockPurchase } from '../purchases/repository.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { voidUnbegun } from './end-charges.ts'
import { beginningOf, settlePaid } from './settle-paid.ts'

/**
 * The payment of an invoice has ended without money. What was too little for the processor waits for the customer's next
 * invoice; what was withdrawn with its purchase is void. Anything else is charged again by another payment.
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
  if (isTooSmall) {
    const carried = await carryOver(work, invoice, dueMinor(invoice), reference)
    if (purchase !== undefined) await settlePaid(work, purchase, carried)
    return
  }
  const period = await findRecurringPeriod(sql, providerId, invoiceRef)
  if (purchase === undefined || period === undefined) return
  const isUnbegun = beginningOf(purchase, period) === undefined
  if (isUnbegun && !(await chargesUsage(sql, providerId, invoiceRef))) {
    await voidUnbegun(work, invoice)
  }
}
