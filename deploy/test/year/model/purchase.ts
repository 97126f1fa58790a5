import { boundary, dayMs, indexAt, wholeSecond, type Mode } from './calendar.ts'
import { dropPeriod } from './invoices.ts'
import type { ModelPlan } from './plans.ts'
import type { ModelPurchase } from './records.ts'
import type { ModelSwitch } from './switch.ts'
import { emptyUsageBook } from './usage.ts'

export type Begin = {
  readonly productRef: string
  readonly plan: ModelPlan
  readonly mode: Mode
  readonly at: number
  readonly how: 'activated' | 'paid' | 'tried'
  readonly amount: bigint
}

export function begin({ productRef, plan, mode, at, how, amount }: Begin): ModelPurchase {
  const startedAt = wholeSecond(at)
  const trialMs = how === 'tried' ? (plan.trialDays ?? 0) * dayMs : 0
  const anchor = wholeSecond(at + trialMs)
  const autoRenew = plan.type !== 'one-time' && plan.autoRenew !== false
  const firstEnd = plan.cycle === undefined ? null : boundary(plan.cycle, mode, anchor, 1)
  const accessEnd = plan.accessDays === undefined ? null : anchor + plan.accessDays * dayMs
  const isTrial = how === 'tried'
  return {
    reference: '',
    before: undefined,
    productRef,
    plan,
    mode,
    startedAt,
    anchor,
    status: isTrial ? 'trialing' : 'active',
    autoRenew,
    nextBilling: isTrial ? anchor : autoRenew ? firstEnd : null,
    nextReset: isTrial ? anchor : autoRenew ? firstEnd : null,
    end: autoRenew ? null : (firstEnd ?? accessEnd),
    endedAt: null,
    cancelledAt: null,
    suspensions: [],
    remindedOf: null,
    retries: noRetries,
    amount,
    events: how === 'paid' ? ['purchase.created', 'purchase.activated'] : ['purchase.created'],
    invoices: [],
    usageBook: emptyUsageBook(anchor),
  }
}

export const noRetries = [{ failures: 0, next: null }] as const

/** Begins a purchase that continues the period of the replaced one. A plan without renewal ends with the period. */
export function beginSwitched(given: Begin, { from, end }: ModelSwitch): ModelPurchase {
  const purchase = begin({ ...given, mode: from.mode })
  const dates = purchase.autoRenew
    ? { anchor: from.anchor, nextBilling: end, nextReset: end }
    : { anchor: from.anchor, end }
  return { ...purchase, ...dates, amount: BigInt(given.plan.price) }
}

export function isOpen({ status }: ModelPurchase): boolean {
  return status === 'active' || status === 'trialing' || status === 'past_due'
}

export function givesAccess(purchase: ModelPurchase, at: number): boolean {
  return isOpen(purchase) && !(purchase.end !== null && purchase.end <= at)
}

export function isEnding({ status, cancelledAt }: ModelPurchase): boolean {
  return (status === 'active' || status === 'trialing') && cancelledAt !== null
}

/** Drops unpaid invoices of periods that will not begin because the purchase ends. */
function dropUnpaidPeriods({ invoices }: ModelPurchase, at: number): void {
  for (const invoice of invoices) dropPeriod(invoice, at)
}

/** An ended purchase shows no time of a retry, although its usage may still be retried. */
function clearRetry(purchase: ModelPurchase): void {
  purchase.retries = purchase.retries.map(({ failures }) => ({ failures, next: null }))
}

export function endAt(purchase: ModelPurchase, status: 'cancelled' | 'expired', at: number): void {
  Object.assign(purchase, { status, autoRenew: false, nextBilling: null, endedAt: at })
  clearRetry(purchase)
  purchase.events.push(`purchase.${status}`)
  dropUnpaidPeriods(purchase, at)
}

/** Ends the purchase if its end has come. Returns whether it did. */
export function endIfDue(purchase: ModelPurchase, at: number): boolean {
  if (!isOpen(purchase) || givesAccess(purchase, at)) return false
  endAt(purchase, isEnding(purchase) ? 'cancelled' : 'expired', purchase.end!)
  return true
}

/** Cancels the purchase. `refused`: there is nothing to cancel. */
export function cancel(purchase: ModelPurchase, at: number): 'done' | 'refused' {
  if (purchase.status === 'cancelled' || isEnding(purchase)) return 'done'
  if (isOpen(purchase) && !givesAccess(purchase, at)) return 'refused'
  if (['expired', 'refunded'].includes(purchase.status)) return 'refused'
  const until = accessUntil(purchase, at)
  if (until === undefined || until <= at) {
    purchase.cancelledAt = at
    endAt(purchase, 'cancelled', at)
    return 'done'
  }
  Object.assign(purchase, { cancelledAt: at, end: until, autoRenew: false, nextBilling: null })
  purchase.events.push('purchase.cancellation_scheduled')
  dropUnpaidPeriods(purchase, at)
  return 'done'
}

/** Returns the end of access of a purchase that is cancelled now, or undefined if it ends immediately. */
function accessUntil(purchase: ModelPurchase, at: number): number | undefined {
  const { status, plan, end, nextBilling, anchor, mode } = purchase
  if (plan.type === 'one-time' || (status !== 'active' && status !== 'trialing')) return undefined
  if (status === 'trialing') return anchor
  if (end !== null) return end
  if (plan.cycle === undefined) return undefined
  if (plan.price > 0) return nextBilling ?? undefined
  return boundary(plan.cycle, mode, anchor, indexAt(plan.cycle, mode, anchor, at) + 1)
}

export function reactivate(purchase: ModelPurchase, at: number): 'done' | 'refused' {
  if (!isEnding(purchase) || !givesAccess(purchase, at)) return 'refused'
  purchase.cancelledAt = null
  if (purchase.plan.autoRenew !== false) {
    Object.assign(purchase, { autoRenew: true, nextBilling: purchase.end, end: null })
  }
  purchase.events.push('purchase.reactivated')
  return 'done'
}

export function refund(purchase: ModelPurchase, at: number): void {
  if (purchase.status === 'refunded') return
  const endedAt = purchase.endedAt ?? at
  Object.assign(purchase, { status: 'refunded', autoRenew: false, nextBilling: null, endedAt })
  clearRetry(purchase)
  purchase.events.push('purchase.refunded')
  // Usage of a refunded purchase is not billed.
  Object.assign(purchase.usageBook, { billedUntil: null, closesAt: null })
  dropUnpaidPeriods(purchase, at)
}
