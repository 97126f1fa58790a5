import { farFuture } from '../entitlements/compile-entitlement.ts'
import { periodOf, usagePeriodAt, type Period } from '../periods/periods.ts'
import type { ChargedPeriod } from '../pricing/invoice-line.ts'
import { usageTermsOf } from '../pricing/usage-terms.ts'
import { cycleOf } from '../purchases/access.ts'
import type { Purchase } from '../purchases/repository.ts'

/** How long usage is waited for. */
export type UsageDelays = {
  /** From the end of a period until it is billed: most of what is late has come by then. */
  readonly graceMs: number
  /** From the end of a period until no record of it is taken any more. */
  readonly lateMs: number
}

/** Up to where the usage of a purchase is billed, and when it is over: what is noted after a decision. */
export type UsageNotes = Pick<Purchase, 'nextUsageBillAt' | 'usageClosesAt'>

export type UsageBillDecision =
  /** There is nothing to bill, now or later. */
  | { readonly kind: 'nothing' }
  /** Its time has not come. */
  | { readonly kind: 'wait' }
  /** What is noted is no end of a period that is billed: it is put right. */
  | { readonly kind: 'align'; readonly notes: UsageNotes }
  /** A period is over that was not billed. */
  | { readonly kind: 'bill'; readonly period: ChargedPeriod; readonly notes: UsageNotes }
  /** All periods are billed, and what comes late from now on is refused when it is recorded. */
  | { readonly kind: 'close'; readonly notes: UsageNotes }

export const nothingToBill: UsageNotes = { nextUsageBillAt: null, usageClosesAt: null }

/**
 * What is to be done about the usage of a purchase: its first period that is not billed, once it has ended and records of
 * it have had some time to arrive. What ended within a period is billed for what there was of it; a trial is not billed.
 */
export function decideUsageBill(
  purchase: Purchase,
  now: Date,
  { graceMs, lateMs }: UsageDelays,
): UsageBillDecision {
  const { planSnapshot, nextUsageBillAt: next, usageClosesAt: closesAt, anchor } = purchase
  if (next === null) {
    if (closesAt === null) return { kind: 'nothing' }
    return closesAt <= now ? { kind: 'close', notes: nothingToBill } : { kind: 'wait' }
  }
  if (planSnapshot === null || usageTermsOf(planSnapshot) === undefined) {
    return { kind: 'align', notes: nothingToBill }
  }
  const period = periodEndingAt(purchase, next)
  if (period === undefined) return { kind: 'align', notes: until(periodEndAfter(purchase, next)) }
  const endedAt = endOf(purchase, now)
  if (endedAt === null || endedAt > period.end) {
    if (period.end.getTime() + graceMs > now.getTime()) return { kind: 'wait' }
    return { kind: 'bill', period, notes: until(periodEndAfter(purchase, period.end)) }
  }
  const closing = {
    nextUsageBillAt: null,
    usageClosesAt: new Date(endedAt.getTime() + lateMs + graceMs),
  }
  if (endedAt <= period.start) {
    // Of what ended within its trial nothing was billed, and nothing is.
    return { kind: 'align', notes: endedAt > anchor ? closing : nothingToBill }
  }
  if (endedAt.getTime() + graceMs > now.getTime()) return { kind: 'wait' }
  return { kind: 'bill', period: { start: period.start, end: endedAt }, notes: closing }
}

function until(nextUsageBillAt: Date): UsageNotes {
  return { nextUsageBillAt, usageClosesAt: null }
}

/** Where it has ended, also where nobody has said so yet. */
function endOf({ endedAt, endDate }: Purchase, now: Date): Date | null {
  if (endedAt !== null) return endedAt
  return endDate !== null && endDate <= now ? endDate : null
}

/** The period after the trial that ends there; undefined where none does. Without a cycle there is one, without an end. */
function periodEndingAt(purchase: Purchase, end: Date): ChargedPeriod | undefined {
  const cycle = cycleOf(purchase)
  if (cycle === undefined) {
    return end.getTime() === farFuture.getTime() ? { start: purchase.anchor, end } : undefined
  }
  const period = usagePeriodAt(cycle, purchase.startDate, new Date(end.getTime() - 1))
  const isOne = isCharged(period) && period.end.getTime() === end.getTime()
  return isOne ? { start: period.start, end } : undefined
}

/** The end of the period that is charged and contains the instant, or comes after it. */
function periodEndAfter(purchase: Purchase, instant: Date): Date {
  const cycle = cycleOf(purchase)
  if (cycle === undefined) return farFuture
  const period = usagePeriodAt(cycle, purchase.startDate, instant)
  return isCharged(period) ? period.end : periodOf(cycle, 0).end
}

/** A trial has a period of its own, and is not. */
function isCharged({ index }: Period): boolean {
  return index >= 0
}
