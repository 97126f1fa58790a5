import { releasePeriods } from '../invoices/billed-periods.ts'
import type { Invoice } from '../invoices/invoice.ts'
import { listLines } from '../invoices/lines.ts'
import { lockInvoice, updateInvoice } from '../invoices/repository.ts'
import { voidInvoice, writeOffInvoice } from '../invoices/settle-invoice.ts'
import { decideMove } from '../invoices/transitions.ts'
import { chargesMore, listOpenRecurringInvoices } from '../invoices/unpaid.ts'
import { requestCancelOfInvoice } from './intents-repository.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { creditObsoletePeriod } from '../invoices/credit-obsolete-period.ts'

/**
 * Stops charges for the next period of a purchase that ends, or that ends with its period. An invoice whose payment may still
 * succeed becomes void once the processor confirms that it cannot. If that payment succeeds after all, it is refunded. Usage stays
 * owed, also on an invoice that charged usage and a period. The caller has locked the purchase.
 */
export async function endCharges(work: UnitOfWork, purchaseRef: string): Promise<void> {
  const { sql, providerId, now } = work
  for (const reference of await listOpenRecurringInvoices(sql, providerId, purchaseRef)) {
    const isPayable = await requestCancelOfInvoice(sql, providerId, reference, now)
    const invoice = await lockInvoice(sql, providerId, reference)
    if (invoice?.status !== 'open') continue
    if (isPayable && !(await chargesMore(sql, providerId, reference))) {
      await updateInvoice(sql, providerId, { ...invoice, nextChargeAt: null, updatedAt: now })
    } else {
      await cancelUnbegunPeriod(work, invoice)
    }
  }
}

/**
 * Cancels what an open invoice charges for a period that will not begin, or that another payment will begin. An invoice without
 * usage is voided or written off as a whole. On an invoice with usage, only the part for the period is credited, and another payment
 * charges the usage. The period is also credited if part of it was paid, so that the customer gets that part back on the next
 * invoice. A customer who continues the purchase gets a new invoice.
 */
export async function cancelUnbegunPeriod(work: UnitOfWork, invoice: Invoice): Promise<Invoice> {
  const { sql, providerId } = work
  const { reference } = invoice
  const whole = { ...invoice, lines: await listLines(sql, providerId, reference) }
  const isCredited = invoice.paidMinor > 0n || (await chargesMore(sql, providerId, reference))
  const cancelled = isCredited
    ? await creditObsoletePeriod(work, whole)
    : decideMove(invoice, 'voided').kind === 'moved'
      ? await voidInvoice(work, whole)
      : await writeOffInvoice(work, invoice)
  await releasePeriods(sql, providerId, reference)
  return cancelled
}
