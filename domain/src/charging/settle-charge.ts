import { findRecurringPeriod } from '../invoices/billed-periods.ts'
import { lockInvoice, findInvoice } from '../invoices/repository.ts'
import { unixSeconds } from '../outbox/unix-seconds.ts'
import type { ChargedPeriod } from '../pricing/invoice-line.ts'
import { movePurchase } from '../purchases/move-purchase.ts'
import { lockPurchase, updatePurchase, type Purchase } from '../purchases/repository.ts'
import { canMove, type PurchaseTrigger } from '../purchases/transitions.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import type { ChargeOutcome } from './charge-invoice.ts'
import { decideRetry, type RetryDelays } from './decide-retry.ts'

/** `open`: the end is not known yet. `nothing`: another has settled it, or it has no bearing on the purchase. */
export type SettledCharge = 'settled' | 'open' | 'nothing'

/**
 * What the end of a charge means for the purchase: its next period begins, or it is past due, or suspended. Called by
 * whoever learns of the end, any number of times: whether it was paid the invoice says, and a period that has begun
 * is not begun again.
 */
export async function settleCharge(
  work: UnitOfWork,
  invoiceRef: string,
  outcome: ChargeOutcome,
  delays: RetryDelays,
): Promise<SettledCharge> {
  const { sql, providerId } = work
  const named = await findInvoice(sql, providerId, invoiceRef)
  if (named === undefined || named.purchaseRef === null) return 'nothing'
  // Everybody locks the purchase before the invoice.
  const purchase = await lockPurchase(sql, providerId, named.purchaseRef)
  const invoice = await lockInvoice(sql, providerId, invoiceRef)
  const period = await findRecurringPeriod(sql, providerId, invoiceRef)
  if (purchase === undefined || invoice === undefined || period === undefined) return 'nothing'
  if (purchase.nextBillingDate?.getTime() !== period.start.getTime()) return 'nothing'
  if (invoice.status === 'paid') return begin(work, purchase, period)
  if (outcome.kind !== 'declined') return 'open'
  return fail(work, purchase, outcome.isFinal, delays)
}

const begins: Readonly<Partial<Record<Purchase['status'], PurchaseTrigger>>> = {
  trialing: 'trial-converted',
  active: 'renewed',
  past_due: 'renewed',
  suspended: 'paid',
}

async function begin(
  work: UnitOfWork,
  purchase: Purchase,
  period: ChargedPeriod,
): Promise<SettledCharge> {
  const trigger = begins[purchase.status]
  if (trigger === undefined || !canMove(purchase, trigger)) return 'nothing'
  await movePurchase(work, purchase, trigger, {
    nextBillingDate: purchase.autoRenew ? period.end : null,
    paidAt: work.now,
    retryCount: 0,
    nextRetryAt: null,
  })
  return 'settled'
}

async function fail(
  work: UnitOfWork,
  purchase: Purchase,
  isFinal: boolean,
  delays: RetryDelays,
): Promise<SettledCharge> {
  if (purchase.status === 'trialing') {
    await movePurchase(work, purchase, 'trial-unpaid', { nextUsageBillAt: null })
    return 'settled'
  }
  if (purchase.status !== 'active' && purchase.status !== 'past_due') return 'nothing'
  const retryCount = purchase.retryCount + 1
  const decision = decideRetry(retryCount, isFinal, work.now, delays)
  const nextRetryAt = decision.kind === 'retry' ? decision.at : null
  const failed = { retryCount, nextRetryAt }
  // The first failure is told even where it is the last: what is suspended was past due before.
  const pastDue =
    purchase.status === 'active'
      ? await movePurchase(work, purchase, 'renewal-failed', failed, pastDueTold)
      : { ...purchase, ...failed }
  if (decision.kind === 'give-up') await movePurchase(work, pastDue, 'retries-spent', failed)
  else await updatePurchase(work.sql, work.providerId, { ...pastDue, updatedAt: work.now })
  return 'settled'
}

/** What purchase.past_due tells. */
function pastDueTold(purchase: Purchase) {
  return {
    object: {
      id: purchase.reference,
      reference: purchase.reference,
      status: purchase.status,
      customer: purchase.customerRef,
      plan: purchase.planRef,
      product: purchase.productRef,
      retryCount: purchase.retryCount,
      nextRetryAt: purchase.nextRetryAt === null ? null : unixSeconds(purchase.nextRetryAt),
      created: unixSeconds(purchase.createdAt),
    },
    previousAttributes: { status: 'active' },
  }
}
