import { isLastPeriodRefunded } from '../billing/is-last-period-refunded.ts'
import type { PaymentIntent } from '../payments/payment-intent.ts'
import { isStillPaid } from '../payments/refunds-repository.ts'
import { type UnitOfWork, recordEvent } from '../unit-of-work/unit-of-work.ts'
import { resumeUsageBilling } from '../billing/resume-usage-billing.ts'
import { lockCustomer } from '../customers/repository.ts'
import { listUnpaidPeriods } from '../invoices/billed-periods.ts'
import { takeBackProration } from './take-back-proration.ts'
import { decideUndo, datesOfRestored } from '../purchases/decide-undo.ts'
import { movePurchase } from '../purchases/move-purchase.ts'
import { readChangeHistory, type ChangeHistory } from '../purchases/plan-change-history.ts'
import { carriersOf } from '../purchases/plan-changes.ts'
import { planChangedObject } from '../purchases/purchase-event.ts'
import { listPurchases, lockPurchase, type Purchase } from '../purchases/repository.ts'
import { canMove } from '../purchases/transitions.ts'
import { windowsTakenIn } from '../purchases/windows-taken-in.ts'
import { updateWindowsTakenIn } from '../purchases/notes-repository.ts'
import { isChargedBack } from '../billing/charged-back.ts'

/* Decides which refund ends what its payment paid for. Without a purchase nothing was delivered, so there is nothing to end. */

/** Ends the purchase if the invoice charged its newest period and is refunded in full. Earlier periods were used. */
export async function endRefundedPeriod(
  work: UnitOfWork,
  { purchaseRef, invoiceRef }: PaymentIntent,
): Promise<void> {
  if (purchaseRef === null) return
  if (await isLastPeriodRefunded(work, purchaseRef, invoiceRef))
    await endRefunded(work, purchaseRef)
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
  if (isRefunded) await endRefunded(work, purchaseRef)
}

/** Ends the purchase once all its payments are refunded. */
export async function endOnceAllRefunded(
  work: UnitOfWork,
  { customerRef, purchaseRef }: PaymentIntent,
): Promise<void> {
  if (purchaseRef === null) return
  const { sql, providerId } = work
  if (await isStillPaid(sql, providerId, { customerRef, purchaseRef })) return
  await endRefunded(work, purchaseRef)
}

/**
 * Ends a purchase whose payment was refunded in full, and all purchases that continued its period for the difference. If it had
 * replaced a purchase that is still paid for, that one becomes active again. All of this commits together: after a crash the refund
 * is applied again from the start. The caller has locked the payment.
 */
export async function endRefunded(work: UnitOfWork, reference: string): Promise<void> {
  const { sql, providerId, now } = work
  const [found] = await listPurchases(sql, providerId, { reference, rowsMax: 1 })
  if (found === undefined) return
  // Changes of plan lock the customer first as well, in the same order.
  await lockCustomer(sql, providerId, found.customerRef)
  const named = await lockPurchase(sql, providerId, reference)
  if (named === undefined || !canMove(named, 'refunded')) return
  // Top-ups have no plan and replace no purchase.
  if (named.planRef === null) return refund(work, named)
  const history = await readChangeHistory(sql, providerId, named)
  const unpaid = await listUnpaidPeriods(sql, providerId, refsOf(history.purchases))
  const isPaid = (each: Purchase): boolean =>
    each.status !== 'refunded' && !unpaid.has(each.reference)
  const undo = decideUndo(history, named, isPaid, now)
  await refund(work, named)
  for (const { reference: ended } of undo.ended) {
    const purchase = await lockPurchase(sql, providerId, ended)
    if (purchase !== undefined && canMove(purchase, 'cancelled')) await refund(work, purchase)
  }
  for (const each of undo.carried) await takeBackProration(work, each)
  if (undo.restored === undefined) return
  await restore(work, history, undo.restored.reference, [named, ...undo.carried])
}

async function refund(work: UnitOfWork, purchase: Purchase): Promise<void> {
  await movePurchase(work, purchase, 'refunded', {
    autoRenew: false,
    nextBillingDate: null,
    nextRetryAt: null,
    endedAt: purchase.endedAt ?? work.now,
  })
}

async function restore(
  work: UnitOfWork,
  { purchases, ownPeriods }: ChangeHistory,
  reference: string,
  undone: readonly Purchase[],
): Promise<void> {
  const { sql, providerId, now } = work
  const before = await lockPurchase(sql, providerId, reference)
  if (before === undefined || !canMove(before, 'restored')) return
  const carriers = carriersOf(purchases, before, ownPeriods)
  if (await isChargedBack(sql, providerId, carriers)) return
  const restored = await movePurchase(work, before, 'restored', datesOfRestored(before))
  const taken = { reference, windowsTakenIn: windowsTakenIn(before, undone, now) }
  await updateWindowsTakenIn(sql, providerId, taken)
  await resumeUsageBilling(work, before, refsOf(undone))
  const previous = { plan: undone.at(-1)!.planRef }
  await recordEvent(work, 'purchase.plan_changed', planChangedObject(restored), previous)
}

function refsOf(purchases: readonly Purchase[]): string[] {
  return purchases.map(({ reference }) => reference)
}
