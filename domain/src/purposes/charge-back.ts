import { resumePurchase } from '../billing/resume-purchase.ts'
import { hasUnpaid } from '../invoices/unpaid.ts'
import { movePurchase } from '../purchases/move-purchase.ts'
import { readChangeHistory } from '../purchases/plan-change-history.ts'
import { carriedBy } from '../purchases/plan-changes.ts'
import { lockPurchase, type Purchase } from '../purchases/repository.ts'
import { canMove } from '../purchases/transitions.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { isPurchaseChargedBack } from '../billing/charged-back.ts'
import type { PaymentIntent } from '../payments/payment-intent.ts'
import type { SeenDispute } from './payment-handler.ts'

/*
 * What a dispute does to the purchase that the payment paid for, in the transaction that records it. The caller has locked
 * the payment and the customer, because a change of plan would otherwise go on with a purchase that is suspended here, and
 * has saved the dispute, so the disputed card is no longer charged unless its holder is present.
 */

/** Suspends the purchase if the money is taken, and gives access back if the money is. */
export async function moveAccess(
  work: UnitOfWork,
  intent: PaymentIntent,
  access: SeenDispute['access'],
): Promise<void> {
  if (access === 'taken') await chargeBack(work, intent)
  if (access === 'given-back') await undoChargeBack(work, intent)
}

async function chargeBack(work: UnitOfWork, intent: PaymentIntent): Promise<void> {
  const purchase = await lockPaidFor(work, intent)
  if (purchase === undefined || !canMove(purchase, 'charged-back')) return
  if (!(await isPurchaseChargedBack(work.sql, work.providerId, purchase))) return
  await movePurchase(work, purchase, 'charged-back')
}

/** Something else may keep the purchase suspended. */
async function undoChargeBack(work: UnitOfWork, intent: PaymentIntent): Promise<void> {
  const { sql, providerId } = work
  const purchase = await lockPaidFor(work, intent)
  if (purchase === undefined || !canMove(purchase, 'dispute-won')) return
  // Paying what is open gives access back then.
  if (await hasUnpaid(sql, providerId, purchase.reference)) return
  if (await isPurchaseChargedBack(sql, providerId, purchase)) return
  await resumePurchase(work, purchase, 'dispute-won')
}

/** Also where a change of plan has replaced it since, by one that runs for the difference. */
async function lockPaidFor(
  { sql, providerId }: UnitOfWork,
  { purchaseRef }: PaymentIntent,
): Promise<Purchase | undefined> {
  if (purchaseRef === null) return undefined
  const named = await lockPurchase(sql, providerId, purchaseRef)
  if (named === undefined || named.planSnapshot === null) return undefined
  const { purchases, ownPeriods } = await readChangeHistory(sql, providerId, named)
  const last = carriedBy(purchases, named, ownPeriods).at(-1)
  if (last === undefined) return named
  // What costs nothing needs no money to go on.
  return (last.originalAmountMinor ?? 0) > 0
    ? lockPurchase(sql, providerId, last.reference)
    : undefined
}
