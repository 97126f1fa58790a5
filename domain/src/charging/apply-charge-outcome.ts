import { createHash } from 'node:crypto'
import { findRecurringPeriod } from '../invoices/billed-periods.ts'
import { laterOf, type Invoice } from '../invoices/invoice.ts'
import { findInvoice, lockInvoice, updateInvoice } from '../invoices/repository.ts'
import { debtPurposeOf } from '../payments/payment-purpose.ts'
import { lockPurchase } from '../purchases/repository.ts'
import { paymentHandlers } from '../purposes/payment-handlers.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import type { ChargeOutcome, FailedCharge } from './charge-invoice.ts'
import { decideRetry, type RetryDelays } from '../billing/decide-retry.ts'
import { applyPaidInvoice } from '../billing/apply-paid-invoice.ts'

/** `open`: the outcome is not known yet. `nothing`: the outcome was settled before, or does not affect the purchase. */
export type AppliedCharge = 'settled' | 'open' | 'nothing'

/**
 * Applies the outcome of a charge. If the invoice is paid, its purchase continues. If the charge failed, the next
 * charge is scheduled and the purchase becomes past due, or is suspended after the last attempt. Works for all
 * invoices, including invoices for usage only. Every process that learns of the outcome may call this, any number of
 * times: the invoice says whether it is paid, and a failure is counted once.
 */
export async function applyChargeOutcome(
  work: UnitOfWork,
  invoiceRef: string,
  outcome: ChargeOutcome,
  delays: RetryDelays,
): Promise<AppliedCharge> {
  const { sql, providerId } = work
  const found = await findInvoice(sql, providerId, invoiceRef)
  if (found === undefined) return 'nothing'
  const { purchaseRef } = found
  // All code locks the purchase before the invoice.
  const purchase =
    purchaseRef === null ? undefined : await lockPurchase(sql, providerId, purchaseRef)
  const invoice = await lockInvoice(sql, providerId, invoiceRef)
  if (invoice === undefined) return 'nothing'
  if (invoice.status === 'paid') {
    // Usually the transaction that recorded the payment has done this already.
    const period = await findRecurringPeriod(sql, providerId, invoiceRef)
    const isSettled =
      purchase !== undefined && (await applyPaidInvoice(work, purchase, invoice, period))
    return isSettled || outcome.kind === 'paid' ? 'settled' : 'nothing'
  }
  if (invoice.status !== 'open') return 'nothing'
  if (outcome.kind !== 'declined') return 'open'
  // The failure is counted, and the invoice is due again: the outcome of a later call or of a cancellation is not known
  // yet.
  if (invoice.countedFailure === outcome.failure)
    return isDue(invoice, work.now) ? 'open' : 'nothing'
  const failed = await countFailure(work, invoice, outcome, delays)
  const period = await findRecurringPeriod(sql, providerId, invoiceRef)
  const handler = paymentHandlers[debtPurposeOf(period !== undefined)]
  const debt = { invoice: failed, purchase, period }
  await handler.onFailed(work, { kind: 'charge-failed', debt })
  return 'settled'
}

function isDue({ nextChargeAt }: Invoice, now: Date): boolean {
  return nextChargeAt !== null && nextChargeAt <= now
}

async function countFailure(
  work: UnitOfWork,
  invoice: Invoice,
  { isFinal, failure }: FailedCharge,
  delays: RetryDelays,
): Promise<Invoice> {
  const failedCharges = invoice.failedCharges + 1
  const share = shareOf(invoice.reference, failedCharges)
  const decision = decideRetry(failedCharges, isFinal, work.now, delays, share)
  // An invoice may be held, or become due later, while its charge is in progress.
  const nextChargeAt =
    decision.kind === 'retry' && !invoice.isHeld ? laterOf(invoice.dueAt, decision.at) : null
  const counted = { failedCharges, nextChargeAt, countedFailure: failure, updatedAt: work.now }
  const failed = { ...invoice, ...counted }
  await updateInvoice(work.sql, work.providerId, failed)
  return failed
}

/**
 * Returns the share of the jitter, from 0 up to but not including 1. The same failure always gets the same share, and
 * the shares of all invoices are evenly distributed.
 */
function shareOf(invoiceRef: string, failedCharges: number): number {
  const digest = createHash('sha256').update(`${invoiceRef}:${failedCharges}`).digest()
  return digest.readUInt32BE() / 2 ** 32
}
