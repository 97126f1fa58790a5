import { decideUsageBill, noBillingDates, periodEndingAt } from '../billing/decide-usage-bill.ts'
import type { UsageBillingDates, UsageDelays } from '../billing/decide-usage-bill.ts'
import { farFuture } from '../entitlements/compile-entitlement.ts'
import type { ChargedPeriod } from '../pricing/invoice-line.ts'
import { mustBillUsageFirst } from '../purchases/decide-renewal.ts'
import type { Purchase } from '../purchases/repository.ts'
import { planRenewal, type RenewalAhead } from './plan-renewal.ts'

/** A bill of usage that is made later. */
export type UsageBillAhead = {
  /** The purchase when the bill is made. */
  readonly purchase: Purchase
  /** Undefined if only late usage is left to bill. */
  readonly period: ChargedPeriod | undefined
  readonly billingDates: UsageBillingDates
  /** Undefined for a period without an end: it is billed when the purchase ends. */
  readonly at: Date | undefined
}

/** A renewal, with the purchase before it. */
export type RenewalOf = RenewalAhead & { readonly purchase: Purchase }

/** Everything that a purchase charges until its current period is billed and the next one has begun. */
export type BillsAhead = {
  /** Oldest first. */
  readonly usage: readonly UsageBillAhead[]
  /** The overdue renewals, oldest first, followed by the next one. */
  readonly renewals: readonly RenewalOf[]
}

/** Upper limit on the bills of one purchase, which only a billing runner that was down for years could exceed. */
const billsMax = 64

/**
 * Returns the bills that the billing runner makes of a purchase from now on, up to those of the current period. Each payment is
 * assumed to succeed.
 */
export function planBills(
  purchase: Purchase,
  now: Date,
  delays: UsageDelays,
  hasCard: boolean,
): BillsAhead {
  const { renewals, current } = planRenewals(purchase, now, hasCard)
  const usage = planUsageBills(current, now, delays).map((bill) => {
    // The price of the next period is on the bill of the usage before it, if the plan combines them.
    const end = bill.period?.end.getTime()
    const renewal = renewals.find((each) => each.purchase.nextBillingDate?.getTime() === end)
    return renewal === undefined ? bill : { ...bill, purchase: renewal.purchase }
  })
  return { usage, renewals: renewals.map((renewal) => afterUsage(renewal, usage)) }
}

/** Returns an active purchase as it is after the renewals that are overdue. */
export function afterOverdueRenewals(purchase: Purchase, now: Date): Purchase {
  return planRenewals(purchase, now, true).current
}

/** Returns the renewals of an active purchase that are overdue, oldest first. */
export function overdueRenewals(purchase: Purchase, now: Date): RenewalOf[] {
  return planRenewals(purchase, now, true).renewals.filter(
    ({ purchase: { nextBillingDate } }) => nextBillingDate !== null && nextBillingDate <= now,
  )
}

/** Returns the renewals up to the next one, and the purchase after those that are overdue. */
function planRenewals(
  purchase: Purchase,
  now: Date,
  hasCard: boolean,
): { readonly renewals: readonly RenewalOf[]; readonly current: Purchase } {
  const renewals: RenewalOf[] = []
  let current = purchase
  while (renewals.length < billsMax) {
    const { nextBillingDate } = current
    const renewal = planRenewal(current, now, hasCard)
    if (renewal === undefined) break
    renewals.push({ ...renewal, purchase: current })
    const isOverdue = nextBillingDate !== null && nextBillingDate <= now
    if (!isOverdue || renewal.next === undefined) break
    current = renewal.next
  }
  return { renewals, current }
}

/** Returns the renewal with its date. A price that is charged after the usage of the period before waits for that bill. */
function afterUsage(renewal: RenewalOf, usage: readonly UsageBillAhead[]): RenewalOf {
  const { decision, purchase } = renewal
  if (decision.kind !== 'charge' || purchase.status === 'trialing') return renewal
  const { period } = decision
  if (!mustBillUsageFirst(purchase, period)) return renewal
  const before = usage.find((bill) => bill.period?.end.getTime() === period.start.getTime())
  return { ...renewal, at: before?.at ?? renewal.at }
}

/** These purchases have no usage to bill yet, or none any longer. */
const statusesWithoutBills: ReadonlySet<Purchase['status']> = new Set([
  'pending',
  'trialing',
  'refunded',
])

function planUsageBills(purchase: Purchase, now: Date, delays: UsageDelays): UsageBillAhead[] {
  const bills: UsageBillAhead[] = []
  if (statusesWithoutBills.has(purchase.status)) return bills
  let unbilled = purchase
  while (bills.length < billsMax) {
    const bill = planNextBill(unbilled, now, delays)
    if (bill === undefined) break
    bills.push(bill)
    unbilled = { ...unbilled, ...bill.billingDates }
    if (bill.period === undefined || bill.period.end > now) break
  }
  return bills
}

function planNextBill(
  purchase: Purchase,
  now: Date,
  delays: UsageDelays,
): UsageBillAhead | undefined {
  const { nextUsageBillAt: next, usageClosesAt, endedAt, endDate } = purchase
  if (next === null) {
    if (usageClosesAt === null) return undefined
    const at = later(usageClosesAt, now)
    return { purchase, period: undefined, billingDates: noBillingDates, at }
  }
  const end = endedAt ?? endDate
  const dueAt = end !== null && end < next ? end : next
  if (dueAt >= farFuture) return endlessBill(purchase, next)
  const at = later(new Date(dueAt.getTime() + delays.graceMs), now)
  const decision = decideUsageBill(purchase, at, delays)
  if (decision.kind === 'align') {
    const { billingDates } = decision
    const isMoved = billingDates.nextUsageBillAt?.getTime() !== next.getTime()
    return isMoved ? planNextBill({ ...purchase, ...billingDates }, now, delays) : undefined
  }
  if (decision.kind !== 'bill') return undefined
  return { purchase, period: decision.period, billingDates: decision.billingDates, at }
}

/** A purchase without periods is billed when it ends. Until then, its bill contains all usage so far. */
function endlessBill(purchase: Purchase, next: Date): UsageBillAhead | undefined {
  const period = periodEndingAt(purchase, next)
  if (period === undefined) return undefined
  const { nextUsageBillAt, usageClosesAt } = purchase
  return { purchase, period, billingDates: { nextUsageBillAt, usageClosesAt }, at: undefined }
}

function later(one: Date, other: Date): Date {
  return one > other ? one : other
}
