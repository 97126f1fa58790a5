import type { Invoice } from '../invoices/invoice.ts'
import { updateInvoice } from '../invoices/repository.ts'
import { movePurchase } from '../purchases/move-purchase.ts'
import { updatePurchase, type Purchase } from '../purchases/repository.ts'
import { canMove } from '../purchases/transitions.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'

/**
 * Marks the purchase past due after a failed charge of the invoice, and suspends it if the invoice is not charged again. A
 * purchase that has ended or is suspended stays as it is.
 */
export async function markPastDue(
  work: UnitOfWork,
  purchase: Purchase,
  { failedCharges: retryCount, nextChargeAt: nextRetryAt }: Invoice,
): Promise<void> {
  const { sql, providerId, now } = work
  const failed = { retryCount, nextRetryAt }
  // The first failure emits its event even if it is the last: the purchase is past due before it is suspended.
  const pastDue = canMove(purchase, 'renewal-failed')
    ? await movePurchase(work, purchase, 'renewal-failed', failed)
    : { ...purchase, ...failed }
  if (pastDue.status !== 'past_due') return
  if (nextRetryAt === null) await movePurchase(work, pastDue, 'retries-spent', failed)
  else await updatePurchase(sql, providerId, { ...pastDue, updatedAt: now })
}

/** Suspends a trial whose first charge failed. It was never paid for, so the charge is only repeated with a new card. */
export async function suspendTrial(
  work: UnitOfWork,
  purchase: Purchase,
  invoice: Invoice,
): Promise<void> {
  await updateInvoice(work.sql, work.providerId, { ...invoice, nextChargeAt: null })
  await movePurchase(work, purchase, 'trial-unpaid', { nextUsageBillAt: null })
}
