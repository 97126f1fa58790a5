import { armRecharge, disarmRecharge } from '../auto-recharge/repository.ts'
import { findReusablePaymentMethod } from '../cards/repository.ts'
import { lockCustomer } from '../customers/repository.ts'
import { resumePurchase } from '../billing/resume-purchase.ts'
import { chargeUnpaidNow, hasUnpaid } from '../invoices/unpaid.ts'
import { movePurchase } from '../purchases/move-purchase.ts'
import { readChangeHistory } from '../purchases/plan-change-history.ts'
import { carriedBy } from '../purchases/plan-changes.ts'
import { lockPurchase, type Purchase } from '../purchases/repository.ts'
import { canMove } from '../purchases/transitions.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { isPurchaseChargedBack } from '../billing/charged-back.ts'
import type { PaymentIntent } from '../payments/payment-intent.ts'

/*
 * What follows when a dispute takes a payment away from the provider, in the transaction that says so. The caller has locked
 * the payment and saved the dispute, by which its card is no longer charged without its holder.
 */

/**
 * Suspends what the payment paid for. A top-up gives access to nothing: the credits that are left of it are taken back.
 */
export async function chargeBack(work: UnitOfWork, intent: PaymentIntent): Promise<void> {
  const { sql, providerId } = work
  const { customerRef } = intent
  // A change of plan locks the customer first, too, and would go on with a purchase that is suspended here.
  await lockCustomer(sql, providerId, customerRef)
  const card = await findReusablePaymentMethod(sql, providerId, customerRef)
  if (card === undefined) await disarmRecharge(work, customerRef)
  const purchase = await lockPaidFor(work, intent)
  if (purchase === undefined || !canMove(purchase, 'charged-back')) return
  if (!(await isPurchaseChargedBack(sql, providerId, purchase))) return
  await movePurchase(work, purchase, 'charged-back')
}

/** Gives access back once the bank has given the money back, unless something else keeps the purchase suspended. */
export async function undoChargeBack(work: UnitOfWork, intent: PaymentIntent): Promise<void> {
  const { sql, providerId, now } = work
  const { customerRef } = intent
  await lockCustomer(sql, providerId, customerRef)
  const card = await findReusablePaymentMethod(sql, providerId, customerRef)
  if (card !== undefined) {
    await armRecharge(work, customerRef, card)
    await chargeUnpaidNow(sql, providerId, customerRef, now)
  }
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
