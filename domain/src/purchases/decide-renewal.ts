import { periodAt, type Period } from '../periods/periods.ts'
import { pricesIn } from '../pricing/plan-prices.ts'
import { cycleOf } from './access.ts'
import type { Purchase } from './repository.ts'
import { canMove } from './transitions.ts'

export type RenewalDecision =
  /** Not due, or not any more. */
  | { readonly kind: 'nothing' }
  /** Costs nothing beforehand. */
  | { readonly kind: 'renew'; readonly period: Period }
  /** Begins when it is paid. */
  | { readonly kind: 'charge'; readonly period: Period; readonly isFirstCharge: boolean }

/** What the billing date of a purchase brings: one period, also where several have passed since. */
export function decideRenewal(purchase: Purchase, now: Date): RenewalDecision {
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
