import { farFuture } from '../entitlements/compile-entitlement.ts'
import { periodOf, usagePeriodAt, type Period } from '../periods/periods.ts'
import type { ChargedPeriod } from '../pricing/invoice-line.ts'
import { billsUsage } from '../pricing/billed-charges.ts'
import { cycleOf } from '../purchases/access.ts'
import type { Purchase } from '../purchases/repository.ts'

/** How long billing waits for usage records to arrive. */
export type UsageDelays = {
  /** Milliseconds from the end of a period until it is billed. Most late records have arrived by then. */
  readonly graceMs: number
  /** Milliseconds from the end of a period until its records are no longer accepted. */
  readonly lateMs: number
}

/**
 * The purchase's billing dates that are stored after a decision: up to when its usage is billed, and when its usage
 * closes.
 */
export type UsageBillingDates = Pick<Purchase, 'nextUsageBillAt' | 'usageClosesAt'>

export type UsageBillDecision =
  /** There is nothing to bill, now or later. */
  | { readonly kind: 'nothing' }
  /** The bill is not due yet. */
  | { readonly kind: 'wait' }
  /** The stored date is not the end of a billable period. The billing dates must be corrected to `billingDates`. */
  | { readonly kind: 'align'; readonly billingDates: UsageBillingDates }
  /** A period has ended and is not billed yet. */
  | {
      readonly kind: 'bill'
      readonly period: ChargedPeriod
      readonly billingDates: UsageBillingDates
    }
  /** All periods are billed. Usage that arrives from now on is refused when it is recorded. */
  | { readonly kind: 'close'; readonly billingDates: UsageBillingDates }

export const noBillingDates: UsageBillingDates = { nextUsageBillAt: null, usageClosesAt: null }

/**
 * Decides what to do about the usage of a purchase. The first unbilled period is billed once it has ended and the grace
 * time for its records is over. If the purchase ended within a period, the bill covers the part of the period before
 * that end. Trials are not billed.
 */
export function decideUsageBill(
  purchase: Purchase,
  now: Date,
  { graceMs, lateMs }: UsageDelays,
): UsageBillDecision {
  const { planSnapshot, nextUsageBillAt: next, usageClosesAt: closesAt, anchor } = purchase
  if (next === null) {
    if (closesAt === null) return { kind: 'nothing' }
    return closesAt <= now ? { kind: 'close', billingDates: noBillingDates } : { kind: 'wait' }
  }
  if (planSnapshot === null || !billsUsage(planSnapshot)) {
    return { kind: 'align', billingDates: noBillingDates }
  }
  const period = periodEndingAt(purchase, next)
  if (period === undefined)
    return { kind: 'align', billingDates: nextBillAt(periodEndAfter(purchase, next)) }
  const endedAt = effectiveEnd(purchase, now)
  if (endedAt === null || endedAt > period.end) {
    if (period.end.getTime() + graceMs > now.getTime()) return { kind: 'wait' }
    return { kind: 'bill', period, billingDates: nextBillAt(periodEndAfter(purchase, period.end)) }
  }
  const closing = {
    nextUsageBillAt: null,
    usageClosesAt: new Date(endedAt.getTime() + lateMs + graceMs),
  }
  if (endedAt <= period.start) {
    // A purchase that ended within its trial was never billed, and is not billed now.
    return { kind: 'align', billingDates: endedAt > anchor ? closing : noBillingDates }
  }
  if (endedAt.getTime() + graceMs > now.getTime()) return { kind: 'wait' }
  return { kind: 'bill', period: { start: period.start, end: endedAt }, billingDates: closing }
}

function nextBillAt(nextUsageBillAt: Date): UsageBillingDates {
  return { nextUsageBillAt, usageClosesAt: null }
}

/**
 * Returns the end of the purchase, or null if it has not ended. A purchase whose end date has passed counts as ended,
 * even if its end was not recorded yet.
 */
function effectiveEnd({ endedAt, endDate }: Purchase, now: Date): Date | null {
  if (endedAt !== null) return endedAt
  return endDate !== null && endDate <= now ? endDate : null
}

/**
 * Returns the billable period that ends at `end`, or undefined if there is none. A purchase without a cycle has one
 * period without an end.
 */
export function periodEndingAt(purchase: Purchase, end: Date): ChargedPeriod | undefined {
  const cycle = cycleOf(purchase)
  if (cycle === undefined) {
    return end.getTime() === farFuture.getTime() ? { start: purchase.anchor, end } : undefined
  }
  const period = usagePeriodAt(cycle, purchase.startDate, new Date(end.getTime() - 1))
  const isOne = isCharged(period) && period.end.getTime() === end.getTime()
  return isOne ? { start: period.start, end } : undefined
}

/** Returns the end of the billable period that contains the instant, or of the first billable period after it. */
function periodEndAfter(purchase: Purchase, instant: Date): Date {
  const cycle = cycleOf(purchase)
  if (cycle === undefined) return farFuture
  const period = usagePeriodAt(cycle, purchase.startDate, instant)
  return isCharged(period) ? period.end : periodOf(cycle, 0).end
}

/** Returns whether usage of the period is billed. A trial is a period with a negative index and is not billed. */
function isCharged({ index }: Period): boolean {
  return index >= 0
}
