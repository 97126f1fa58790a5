import { periodOf, type Period } from '../periods/periods.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import { cycleOf } from './access.ts'
import { scheduledPlanFor } from './decide-renewal.ts'
import { planAfterChange, pricesAt } from './offered-plan.ts'
import type { Purchase } from './repository.ts'
import { isEnding } from './transitions.ts'

export type TrialEndDecision =
  /** The trial's end is not due, or needs no action. */
  | { readonly kind: 'nothing' }
  /** The purchase becomes active without a payment. */
  | { readonly kind: 'activate'; readonly nextBillingDate: Date | null }
  /** The purchase becomes active when the first period and the set-up fee are paid. */
  | { readonly kind: 'charge'; readonly period: Period; readonly isFirstCharge: boolean }
  /** The trial continues with the terms of this plan, by which its end is decided then. */
  | { readonly kind: 'change'; readonly plan: PlanSnapshot; readonly period: Period }
  /** A payment is due, but the customer has no card that can be charged. */
  | { readonly kind: 'suspend' }

/** Decides what happens at the end of a trial. */
export function decideTrialEnd(purchase: Purchase, hasCard: boolean, now: Date): TrialEndDecision {
  const { status, planSnapshot, nextBillingDate: trialEnd, autoRenew } = purchase
  const cycle = cycleOf(purchase)
  if (status !== 'trialing' || isEnding(purchase)) return { kind: 'nothing' }
  if (planSnapshot === null || cycle === undefined) return { kind: 'nothing' }
  if (trialEnd === null || trialEnd > now) return { kind: 'nothing' }
  const chosen = scheduledPlanFor(purchase, trialEnd)
  if (chosen !== undefined) {
    const plan = planAfterChange(chosen, purchase, trialEnd)
    return { kind: 'change', plan, period: periodOf(cycle, 0) }
  }
  const nextBillingDate = autoRenew ? periodOf(cycle, 0).end : null
  const prices = pricesAt(purchase, periodOf(cycle, 0).start)
  const amountMinor = (prices?.priceMinor ?? 0n) + (prices?.setupFeeMinor ?? 0n)
  if (amountMinor === 0n) return { kind: 'activate', nextBillingDate }
  if (!hasCard) return { kind: 'suspend' }
  return { kind: 'charge', period: periodOf(cycle, 0), isFirstCharge: true }
}
