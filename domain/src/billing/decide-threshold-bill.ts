import { billsWithinPeriods } from '../plans/bill-threshold.ts'
import type { ChargedPeriod } from '../pricing/invoice-line.ts'
import type { Purchase } from '../purchases/repository.ts'
import { periodEndingAt } from './decide-usage-bill.ts'

export type ThresholdBillDecision =
  /** The purchase has no running period to bill. Later usage is measured again. */
  | { readonly kind: 'nothing' }
  /** The running period can be billed later: the period before is billed first, or the purchase owes something. */
  | { readonly kind: 'wait' }
  | { readonly kind: 'bill'; readonly period: ChargedPeriod }

/**
 * Decides whether the running period of a purchase can be billed now. It is the first one whose last bill is still to be made. Usage
 * after a known end date belongs to no bill of the purchase, so the period is cut there.
 */
export function decideThresholdBill(purchase: Purchase, now: Date): ThresholdBillDecision {
  const { planSnapshot, status, nextUsageBillAt: next, endedAt, endDate } = purchase
  if (planSnapshot === null || !billsWithinPeriods(planSnapshot)) return { kind: 'nothing' }
  if (next === null || endedAt !== null) return { kind: 'nothing' }
  if (endDate !== null && endDate <= now) return { kind: 'nothing' }
  if (status === 'past_due') return { kind: 'wait' }
  if (status !== 'active') return { kind: 'nothing' }
  const period = periodEndingAt(purchase, next)
  if (period === undefined || period.end <= now) return { kind: 'wait' }
  // A customer who was to be deleted was billed for the whole period already.
  if (period.start > now) return { kind: 'nothing' }
  const end = endDate !== null && endDate < period.end ? endDate : period.end
  return { kind: 'bill', period: { start: period.start, end } }
}
