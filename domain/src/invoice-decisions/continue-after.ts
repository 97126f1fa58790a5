import { applyPaidInvoice } from '../billing/apply-paid-invoice.ts'
import { chargeMaxMinor } from '../money/processor-amounts.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { lockInvoice, updateInvoice } from '../invoices/repository.ts'
import { dueMinor } from '../invoices/transitions.ts'
import type { DecidedInvoice } from './lock-decided.ts'

/**
 * Does what follows after part of an invoice was credited or paid: once nothing is due, its purchase continues as after a payment. A
 * held invoice is charged as soon as what is left fits into one charge.
 */
export async function continueAfter(
  work: UnitOfWork,
  { invoice: before, purchase, period }: DecidedInvoice,
): Promise<void> {
  const { sql, providerId, now } = work
  const invoice = await lockInvoice(sql, providerId, before.reference)
  if (invoice === undefined) return
  if (invoice.status === 'paid') {
    if (purchase !== undefined) await applyPaidInvoice(work, purchase, invoice, period)
    return
  }
  const isReleased = invoice.isHeld && dueMinor(invoice) <= chargeMaxMinor(invoice.currency)
  if (invoice.status !== 'open' || !isReleased) return
  await updateInvoice(sql, providerId, {
    ...invoice,
    isHeld: false,
    nextChargeAt: now,
    updatedAt: now,
  })
}
