import { findRecurringPeriod } from '../invoices/billed-periods.ts'
import type { Invoice } from '../invoices/invoice.ts'
import { carryOver } from '../invoices/issue-invoice.ts'
import { lockInvoice } from '../invoices/repository.ts'
import { payInvoice } from '../invoices/settle-invoice.ts'
import { decideMove, dueMinor } from '../invoices/transitions.ts'
import type { PaymentIntent } from '../payments/payment-intent.ts'
import { pipelined } from '../postgres/pipelined.ts'
import { lockPurchase } from '../purchases/repository.ts'
import { applyPaidInvoice } from '../billing/apply-paid-invoice.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import type { Booking, Debt, Failure, Payment } from './payment-handler.ts'

/** Locks the invoice that the payment pays. Returns undefined if the payment pays none. */
export async function lockDebt(
  { sql, providerId }: UnitOfWork,
  { invoiceRef, purchaseRef }: PaymentIntent,
): Promise<Debt | undefined> {
  if (invoiceRef === null) return undefined
  // All code locks the purchase before the invoice.
  const [purchase, invoice, period] = await pipelined([
    purchaseRef === null ? undefined : lockPurchase(sql, providerId, purchaseRef),
    lockInvoice(sql, providerId, invoiceRef),
    findRecurringPeriod(sql, providerId, invoiceRef),
  ])
  if (invoice === undefined) throw new Error(`invoice ${invoiceRef} is gone`)
  return { invoice, purchase, period }
}

export function requireDebt({ intent, debt }: Payment): Debt {
  if (debt === undefined) throw new Error(`${intent.reference} pays no invoice`)
  return debt
}

/** Returns whether the payment has the amount that is due on the invoice and can still pay it. */
export function isPayable(invoice: Invoice, { originalAmountMinor }: PaymentIntent): boolean {
  if (dueMinor(invoice) !== originalAmountMinor) return false
  return decideMove(invoice, 'paid', originalAmountMinor).kind === 'moved'
}

export const notPayableReason = 'The invoice is not due any more'

/** Pays the invoice and continues its purchase: the charged period begins, or the debt is settled. */
export async function payDebt(
  work: UnitOfWork,
  { intent }: Payment,
  { invoice, purchase, period }: Debt,
): Promise<Booking> {
  const { reference: chargeRef, originalAmountMinor: amountMinor, purchaseRef } = intent
  const paid = await payInvoice(work, invoice, { chargeRef, amountMinor })
  if (purchase !== undefined) await applyPaidInvoice(work, purchase, paid, period)
  return { kind: 'booked', purchaseRef }
}

/** Carries an open invoice below the processor's minimum over to the customer's next invoice, which charges it. */
export async function carryOverTooSmall(
  work: UnitOfWork,
  { intent, isTooSmall }: Extract<Failure, { kind: 'payment-ended' }>,
  { invoice, purchase, period }: Debt,
): Promise<void> {
  if (!isTooSmall || invoice.status !== 'open') return
  const carriedOver = await carryOver(work, invoice, dueMinor(invoice), intent.reference)
  if (purchase !== undefined) await applyPaidInvoice(work, purchase, carriedOver, period)
}
