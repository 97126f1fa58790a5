import { applyPaidInvoice, isPeriodObsolete } from '../billing/apply-paid-invoice.ts'
import { chargeableMinor, chargeMaxMinor } from '../money/processor-amounts.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { releasePeriods } from '../invoices/billed-periods.ts'
import { creditObsoletePeriod } from '../invoices/credit-obsolete-period.ts'
import { laterOf, type Invoice } from '../invoices/invoice.ts'
import { carryOver } from '../invoices/issue-invoice.ts'
import { lockInvoice, updateInvoice } from '../invoices/repository.ts'
import { dueMinor } from '../invoices/transitions.ts'
import type { DecidedInvoice } from './lock-decided.ts'

/**
 * Does what follows after part of an invoice was credited or paid: once nothing is due, its purchase continues as after a payment. A
 * held invoice is charged as soon as what is left fits into one charge.
 */
export async function continueAfter(
  work: UnitOfWork,
  { invoice: before, purchase, period, isCustomerDeleted }: DecidedInvoice,
): Promise<void> {
  const { sql, providerId, now } = work
  const changed = await lockInvoice(sql, providerId, before.reference)
  if (changed === undefined) return
  const invoice = await carryOverRemainder(work, changed)
  if (invoice.status === 'paid') {
    if (purchase === undefined) return
    if (!isPeriodObsolete(purchase, period)) {
      await applyPaidInvoice(work, purchase, invoice, period)
    } else if (!isCustomerDeleted) {
      // The period does not begin, so what was paid for it is credited to the next invoice.
      await creditObsoletePeriod(work, { ...invoice, lines: before.lines })
      await releasePeriods(sql, providerId, invoice.reference)
    }
    return
  }
  // An invoice that a person holds stays held. One that was too large for a charge is released.
  const mostMinor = chargeMaxMinor(invoice.currency)
  const isReleased =
    invoice.isHeld && dueMinor(before) > mostMinor && dueMinor(invoice) <= mostMinor
  if (invoice.status !== 'open' || !isReleased) return
  await updateInvoice(sql, providerId, {
    ...invoice,
    isHeld: false,
    nextChargeAt: laterOf(invoice.dueAt, now),
    updatedAt: now,
  })
}

/** Carries the part of the amount due that is smaller than one step of the processor over to the next invoice. */
async function carryOverRemainder(work: UnitOfWork, invoice: Invoice): Promise<Invoice> {
  if (invoice.status !== 'open') return invoice
  const leftMinor = dueMinor(invoice)
  const remainderMinor = leftMinor - chargeableMinor(leftMinor, invoice.currency)
  if (remainderMinor <= 0n) return invoice
  // Each decision leaves less due, so the key of the posting is unique.
  return carryOver(work, invoice, remainderMinor, `decided:${leftMinor}`)
}
