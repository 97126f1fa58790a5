import { moveDiscounts } from '../coupons/discounts-repository.ts'
import { listBilledPeriods } from '../invoices/billed-periods.ts'
import { isReturned } from '../invoices/is-returned.ts'
import type { PaymentIntent } from '../payments/payment-intent.ts'
import { hasUnrefundedPayment } from '../payments/refunds-repository.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { setPacksDue } from '../packs/repository.ts'
import { joinMigration } from '../plan-migrations/join-migration.ts'
import { emitPlanChanged } from '../billing/activate-plan.ts'
import { resumeUsageBilling } from '../billing/resume-usage-billing.ts'
import { listUnpaidPeriods } from '../invoices/billed-periods.ts'
import { reverseProration } from './reverse-proration.ts'
import { changeAfterUndo } from '../purchases/carry-add-ons.ts'
import { decideRefundEffects, restoredDates } from '../purchases/decide-refund-effects.ts'
import { lockWithCustomer } from '../purchases/lock-with-customer.ts'
import { movePurchase } from '../purchases/move-purchase.ts'
import { readChangeHistory, type ChangeHistory } from '../purchases/plan-change-history.ts'
import { paymentSourcesOf } from '../purchases/plan-changes.ts'
import { lockPurchase, type Purchase } from '../purchases/repository.ts'
import { schedulePlan } from '../purchases/schedule-plan.ts'
import { canMove } from '../purchases/transitions.ts'
import { addWindowsTakenIn } from '../purchases/windows-taken-in.ts'
import { updateWindowsTakenIn } from '../purchases/purchase-fields-repository.ts'
import { isChargedBack } from '../billing/charged-back.ts'

/* Decides which refund ends what its payment paid for. Without a purchase nothing was delivered, so there is nothing to end. */

/** Ends the purchase if the invoice charged its newest period and is refunded in full. Earlier periods were used. */
export async function endRefundedPeriod(
  work: UnitOfWork,
  { purchaseRef, invoiceRef }: Pick<PaymentIntent, 'purchaseRef' | 'invoiceRef'>,
): Promise<void> {
  if (purchaseRef === null) return
  if (await isLastPeriodRefunded(work, purchaseRef, invoiceRef))
    await endRefundedPurchase(work, purchaseRef)
}

/**
 * Ends the purchase of a plan that the payment sold, under the same condition. If no period of the purchase was charged, it ends
 * once all its payments are refunded, because credits for a plan are bought more than once.
 */
export async function endRefundedSale(work: UnitOfWork, intent: PaymentIntent): Promise<void> {
  const { purchaseRef, invoiceRef } = intent
  if (purchaseRef === null) return
  const isRefunded = await isLastPeriodRefunded(work, purchaseRef, invoiceRef)
  if (isRefunded === undefined) return endOnceAllRefunded(work, intent)
  if (isRefunded) await endRefundedPurchase(work, purchaseRef)
}

/**
 * Ends the purchase that began with a change of add-ons once the invoice of that is returned in full. A purchase that has renewed since
 * has paid for its add-ons again.
 */
export async function endRefundedChange(
  work: UnitOfWork,
  { purchaseRef, invoiceRef }: Pick<PaymentIntent, 'purchaseRef' | 'invoiceRef'>,
): Promise<void> {
  if (purchaseRef === null || invoiceRef === null) return
  const { sql, providerId } = work
  const [renewed] = await listBilledPeriods(sql, providerId, purchaseRef, 'recurring', 1)
  if (renewed !== undefined || !(await isReturned(sql, providerId, invoiceRef))) return
  await endRefundedPurchase(work, purchaseRef)
}

/** Ends the purchase once all its payments are refunded. */
export async function endOnceAllRefunded(
  work: UnitOfWork,
  { customerRef, purchaseRef }: PaymentIntent,
): Promise<void> {
  if (purchaseRef === null) return
  const { sql, providerId } = work
  if (await hasUnrefundedPayment(sql, providerId, { customerRef, purchaseRef })) return
  await endRefundedPurchase(work, purchaseRef)
}

/**
 * Ends a purchase whose payment was refunded in full, and all purchases that continued its period for the difference. If it had
 * replaced a purchase that is still paid for, that one becomes active again. All of this commits together: after a crash the refund
 * is applied again from the start. The caller has locked the payment.
 */
export async function endRefundedPurchase(work: UnitOfWork, reference: string): Promise<void> {
  const { sql, providerId, now } = work
  const refunded = await lockWithCustomer(work, reference)
  if (refunded === undefined || !canMove(refunded, 'refunded')) return
  // Top-ups have no plan. Neither they nor packs replace a purchase.
  if (refunded.planRef === null || refunded.isPack) return markRefunded(work, refunded)
  const history = await readChangeHistory(sql, providerId, refunded)
  const unpaid = await listUnpaidPeriods(sql, providerId, refsOf(history.purchases))
  const isPaid = (each: Purchase): boolean =>
    each.status !== 'refunded' && !unpaid.has(each.reference)
  const effects = decideRefundEffects(history, refunded, isPaid, now)
  await markRefunded(work, refunded)
  for (const { reference: ended } of effects.ended) {
    const purchase = await lockPurchase(sql, providerId, ended)
    if (purchase !== undefined && canMove(purchase, 'cancelled')) await markRefunded(work, purchase)
  }
  if (effects.restored !== undefined) {
    const undone = [refunded, ...effects.dependents]
    await restorePurchase(work, history, effects.restored.reference, undone)
  }
  // A bill that is credited for the restored purchase returns the carried amounts that it had taken over.
  for (const each of effects.dependents) await reverseProration(work, each)
}

async function markRefunded(work: UnitOfWork, purchase: Purchase): Promise<void> {
  await movePurchase(work, purchase, 'refunded', {
    autoRenew: false,
    nextBillingDate: null,
    nextRetryAt: null,
    endedAt: purchase.endedAt ?? work.now,
  })
}

async function restorePurchase(
  work: UnitOfWork,
  { purchases, ownPeriods }: ChangeHistory,
  reference: string,
  undone: readonly Purchase[],
): Promise<void> {
  const { sql, providerId, now } = work
  const before = await lockPurchase(sql, providerId, reference)
  if (before === undefined || !canMove(before, 'restored')) return
  const carriers = paymentSourcesOf(purchases, before, ownPeriods)
  if (await isChargedBack(sql, providerId, carriers)) return
  const restored = await movePurchase(work, before, 'restored', restoredDates(before))
  await setPacksDue(sql, providerId, before, now)
  const merged = { reference, windowsTakenIn: addWindowsTakenIn(before, undone, now) }
  await updateWindowsTakenIn(sql, providerId, merged)
  await moveDiscounts(sql, providerId, refsOf(undone), reference)
  await resumeUsageBilling(work, before, refsOf(undone))
  const last = undone.at(-1)!
  await keepChosenAddOns(work, restored, last)
  await emitPlanChanged(work, restored, last)
  await joinMigration(work, restored, restored.createdAt)
}

/** Schedules what the customer had chosen for the renewal before the refund, if the refund undid changes of add-ons alone. */
async function keepChosenAddOns(
  work: UnitOfWork,
  restored: Purchase,
  last: Purchase,
): Promise<void> {
  const { nextBillingDate } = restored
  if (nextBillingDate === null) return
  const change = changeAfterUndo(restored, last, nextBillingDate)
  if (change !== null) await schedulePlan(work, restored.reference, change)
}

function refsOf(purchases: readonly Purchase[]): string[] {
  return purchases.map(({ reference }) => reference)
}

/**
 * Returns whether the invoice charged the newest period of the purchase and all of it was returned. Returns undefined if
 * no period of the purchase was charged.
 */
async function isLastPeriodRefunded(
  { sql, providerId }: Pick<UnitOfWork, 'sql' | 'providerId'>,
  purchaseRef: string,
  invoiceRef: string | null,
): Promise<boolean | undefined> {
  const [last] = await listBilledPeriods(sql, providerId, purchaseRef, 'recurring', 1)
  if (last === undefined) return undefined
  if (last.invoiceRef !== invoiceRef) return false
  return isReturned(sql, providerId, last.invoiceRef)
}
