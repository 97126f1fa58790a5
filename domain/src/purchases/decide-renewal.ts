import { periodAt, type Period } from '../periods/periods.ts'
import { pricesIn } from '../pricing/plan-prices.ts'
import { cycleOf } from './access.ts'
import type { Purchase } from './repository.ts'
import { canMove } from './transitions.ts'

export type DueRenewal =
  /** Not due, or not any more. */
  | { readonly kind: 'nothing' }
  /** Costs nothing beforehand. */
  | { readonly kind: 'renew'; readonly period: Period }
  /** Begins when it is paid. */
  | { readonly kind: 'charge'; readonly period: Period; readonly isFirstCharge: boolean }

export type RenewalDecision =
  | DueRenewal
  /** Its price is charged after the usage of the period before, or together with it. */
  | { readonly kind: 'wait' }

/** What the billing date of a purchase brings: one period, also where several have passed since. */
export function dueRenewal(purchase: Purchase, now: Date): DueRenewal {
  const { status, planSnapshot, nextBillingDate, autoRenew } = purchase
  const cycle = cycleOf(purchase)
  // One that is past due waits for its invoice, which is charged again by itself.
  if (status !== 'active' || !autoRenew || !canMove(purchase, 'renewed')) return { kind: 'nothing' }
  if (planSnapshot === null || cycle === undefined) return { kind: 'nothing' }
  if (nextBillingDate === null || nextBillingDate > now) return { kind: 'nothing' }
  const period = periodAt(cycle, nextBillingDate)
  const prices = pricesIn(planSnapshot, purchase.currency)
  return prices === undefined || prices.priceMinor > 0n
    ? { kind: 'charge', period, isFirstCharge: false }
    : { kind: 'renew', period }
}

/** The same for whoever charges nothing but the price of the next period. */
export function decideRenewal(purchase: Purchase, now: Date): RenewalDecision {
  const renewal = dueRenewal(purchase, now)
  if (renewal.kind !== 'charge' || !isUsageFirst(purchase, renewal.period)) return renewal
  return { kind: 'wait' }
}

/** Usage is billed before it by `usage_first`, or together with it by `combined`, and there is some that is not. */
function isUsageFirst({ planSnapshot, nextUsageBillAt }: Purchase, { start }: Period): boolean {
  const strategy = planSnapshot?.terms.billingStrategy ?? 'recurring_first'
  if (strategy === 'recurring_first' || planSnapshot?.type !== 'hybrid') return false
  return nextUsageBillAt !== null && nextUsageBillAt <= start
}
