import { createHash } from 'node:crypto'
import { findRecurringPeriod } from '../invoices/billed-periods.ts'
import type { Invoice } from '../invoices/invoice.ts'
import { findInvoice, lockInvoice, updateInvoice } from '../invoices/repository.ts'
import { movePurchase } from '../purchases/move-purchase.ts'
import { lockPurchase, updatePurchase, type Purchase } from '../purchases/repository.ts'
import { canMove } from '../purchases/transitions.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import type { ChargeOutcome, FailedCharge } from './charge-invoice.ts'
import { decideRetry, type RetryDelays } from '../billing/decide-retry.ts'
import { settlePaid } from '../billing/settle-paid.ts'

/** `open`: the end is not known yet. `nothing`: another has settled it, or it has no bearing on the purchase. */
export type SettledCharge = 'settled' | 'open' | 'nothing'

/**
 * What the end of a charge means: what was paid for goes on, or the invoice is charged again later, and its purchase is
 * past due, or suspended after the last time. Of any invoice, also of one for usage alone. Called by whoever learns of
 * the end, any number of times: whether it was paid the invoice says, and a failure is counted once.
 */
export async function settleCharge(
  work: UnitOfWork,
  invoiceRef: string,
  outcome: ChargeOutcome,
  delays: RetryDelays,
): Promise<SettledCharge> {
  const { sql, providerId } = work
  const named = await findInvoice(sql, providerId, invoiceRef)
  if (named === undefined) return 'nothing'
  const { purchaseRef } = named
  // Everybody locks the purchase before the invoice.
  const purchase =
    purchaseRef === null ? undefined : await lockPurchase(sql, providerId, purchaseRef)
  const invoice = await lockInvoice(sql, providerId, invoiceRef)
  if (invoice === undefined) return 'nothing'
  if (invoice.status === 'paid') {
    // Most often the payment has done so itself.
    const period = await findRecurringPeriod(sql, providerId, invoiceRef)
    const isOurs = purchase !== undefined && (await settlePaid(work, purchase, invoice, period))
    return isOurs || outcome.kind === 'paid' ? 'settled' : 'nothing'
  }
  if (invoice.status !== 'open') return 'nothing'
  if (outcome.kind !== 'declined') return 'open'
  // Still due: what came of a later call, or of a withdrawal, is not known yet.
  if (invoice.countedFailure === outcome.failure)
    return isDue(invoice, work.now) ? 'open' : 'nothing'
  const failed = await countFailure(work, invoice, outcome, delays)
  if (purchase !== undefined) await fall(work, purchase, failed)
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
  const nextChargeAt = decision.kind === 'retry' ? decision.at : null
  const counted = { failedCharges, nextChargeAt, countedFailure: failure, updatedAt: work.now }
  const failed = { ...invoice, ...counted }
  await updateInvoice(work.sql, work.providerId, failed)
  return failed
}

/** The same for the same failure, and spread evenly over all invoices. */
function shareOf(invoiceRef: string, failedCharges: number): number {
  const digest = createHash('sha256').update(`${invoiceRef}:${failedCharges}`).digest()
  return digest.readUInt32BE() / 2 ** 32
}

/** What a charge that failed makes of the purchase. One that has ended, or stands still already, stays as it is. */
async function fall(work: UnitOfWork, purchase: Purchase, invoice: Invoice): Promise<void> {
  const { sql, providerId, now } = work
  const { failedCharges: retryCount, nextChargeAt: nextRetryAt } = invoice
  if (purchase.status === 'trialing') {
    const period = await findRecurringPeriod(sql, providerId, invoice.reference)
    if (period === undefined) return
    // Nobody has paid yet, so there is nothing to go on with meanwhile: a new card has it tried again.
    await updateInvoice(sql, providerId, { ...invoice, nextChargeAt: null })
    await movePurchase(work, purchase, 'trial-unpaid', { nextUsageBillAt: null })
    return
  }
  const failed = { retryCount, nextRetryAt }
  // The first failure is told even where it is the last: what is suspended was past due before.
  const pastDue = canMove(purchase, 'renewal-failed')
    ? await movePurchase(work, purchase, 'renewal-failed', failed)
    : { ...purchase, ...failed }
  if (pastDue.status !== 'past_due') return
  if (nextRetryAt === null) await movePurchase(work, pastDue, 'retries-spent', failed)
  else await updatePurchase(sql, providerId, { ...pastDue, updatedAt: now })
}
