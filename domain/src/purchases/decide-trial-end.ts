import { periodOf, type Period } from '../periods/periods.ts'
import { pricesIn } from '../pricing/plan-prices.ts'
import { cycleOf } from './access.ts'
import type { Purchase } from './repository.ts'
import { isEnding } from './transitions.ts'

export type TrialEndDecision =
  /** Not due, or not any more. */
  | { readonly kind: 'nothing' }
  /** Goes on without a payment. */
  | { readonly kind: 'go-on'; readonly nextBillingDate: Date | null }
  /** Goes on when the first period and the set-up fee are paid. */
  | { readonly kind: 'charge'; readonly period: Period; readonly isFirstCharge: boolean }
  /** A payment is needed, and there is nothing to pay with. */
  | { readonly kind: 'suspend' }

/** What the end of a trial brings. */
export function decideTrialEnd(purchase: Purchase, hasCard: boolean, now: Date): TrialEndDecision {
  const { status, planSnapshot, nextBillingDate: trialEnd, autoRenew } = purchase
  const cycle = cycleOf(purchase)
  if (status !== 'trialing' || isEnding(purchase)) return { kind: 'nothing' }
  if (planSnapshot === null || cycle === undefined) return { kind: 'nothing' }
  if (trialEnd === null || trialEnd > now) return { kind: 'nothing' }
  const nextBillingDate = autoRenew ? periodOf(cycle, 0).end : null
  const prices = pricesIn(planSnapshot, purchase.currency)
  const amountMinor = (prices?.priceMinor ?? 0n) + (prices?.setupFeeMinor ?? 0n)
  if (amountMinor === 0n) return { kind: 'go-on', nextBillingDate }
  if (!hasCard) return { kind: 'suspend' }
  return { kind: 'charge', period: periodOf(cycle, 0), isFirstCharge: true }
}
