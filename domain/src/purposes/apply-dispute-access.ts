import { resumePurchase } from '../billing/resume-purchase.ts'
import { hasUnpaidInvoice } from '../invoices/unpaid.ts'
import { movePurchase } from '../purchases/move-purchase.ts'
import { readChangeHistory } from '../purchases/plan-change-history.ts'
import { dependentsOf } from '../purchases/plan-changes.ts'
import { lockPurchase, type Purchase } from '../purchases/repository.ts'
import { canMove } from '../purchases/transitions.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { isPurchaseChargedBack } from '../billing/charged-back.ts'
import type { PaymentIntent } from '../payments/payment-intent.ts'
import type { ReportedDispute } from './payment-handler.ts'

/*
 * Effects of a dispute on the purchase that the payment paid for, in the transaction that records it. The caller has locked the
 * payment and the customer, because a concurrent change of plan could otherwise continue a purchase that is suspended here. The
 * caller has also saved the dispute, so the disputed card is not charged off-session.
 */

/** Suspends the purchase if the dispute takes access away, and resumes it if the dispute gives access back. */
export async function applyDisputeAccess(
  work: UnitOfWork,
  intent: PaymentIntent,
  access: ReportedDispute['access'],
): Promise<void> {
  if (access === 'taken') await suspendChargedBack(work, intent)
  if (access === 'given-back') await resumeAfterDispute(work, intent)
}

async function suspendChargedBack(work: UnitOfWork, intent: PaymentIntent): Promise<void> {
  const purchase = await lockPaidPurchase(work, intent)
  if (purchase === undefined || !canMove(purchase, 'charged-back')) return
  if (!(await isPurchaseChargedBack(work.sql, work.providerId, purchase))) return
  await movePurchase(work, purchase, 'charged-back')
}

/** Resumes the purchase, unless unpaid invoices or another dispute keep it suspended. */
async function resumeAfterDispute(work: UnitOfWork, intent: PaymentIntent): Promise<void> {
  const { sql, providerId } = work
  const purchase = await lockPaidPurchase(work, intent)
  if (purchase === undefined || !canMove(purchase, 'dispute-won')) return
  // Paying the open invoices resumes the purchase then.
  if (await hasUnpaidInvoice(sql, providerId, purchase.reference)) return
  if (await isPurchaseChargedBack(sql, providerId, purchase)) return
  await resumePurchase(work, purchase, 'dispute-won')
}

/**
 * Locks the purchase that the payment paid for. If changes of plan have replaced it and were charged only the difference, this is
 * the latest of those purchases.
 */
async function lockPaidPurchase(
  { sql, providerId }: UnitOfWork,
  { purchaseRef }: PaymentIntent,
): Promise<Purchase | undefined> {
  if (purchaseRef === null) return undefined
  const named = await lockPurchase(sql, providerId, purchaseRef)
  if (named === undefined || named.planSnapshot === null) return undefined
  const { purchases, ownPeriods } = await readChangeHistory(sql, providerId, named)
  const last = dependentsOf(purchases, named, ownPeriods).at(-1)
  if (last === undefined) return named
  // A free purchase continues without money.
  return (last.originalAmountMinor ?? 0) > 0
    ? lockPurchase(sql, providerId, last.reference)
    : undefined
}
