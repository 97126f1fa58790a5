import { withoutAddOns } from '../plans/add-ons.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import { pricesIn, withSetupFee } from '../pricing/plan-prices.ts'
import { planAt } from './offered-plan.ts'
import type { Purchase } from './purchase.ts'

/**
 * Returns the plan, which has no set-up fee, with the fee that the customer of a trial has agreed to pay at its end. Other customers
 * have paid the fee of their plan, or were never asked for one. A change after the trial comes when its end has charged the fee.
 */
export function withAgreedFee(plan: PlanSnapshot, held: Purchase, changesAt: Date): PlanSnapshot {
  const { planSnapshot: before, currency, planRef, anchor } = held
  if (before === null || !isInTrial(held, changesAt)) return plan
  // The add-ons that the plan allows bring their own fees.
  const own = withoutAddOns(before)
  // A fee that is agreed with the customer for the same plan replaces that of the plan when the trial ends.
  const sold = plan.reference === planRef ? own : planAt(held, own, anchor)
  return withSetupFee(plan, currency, pricesIn(sold, currency)?.setupFeeMinor ?? 0n)
}

/** Returns whether the purchase is on trial until then. The end of the trial is the last time. */
export function isInTrial(
  { status, nextBillingDate }: Pick<Purchase, 'status' | 'nextBillingDate'>,
  at: Date,
): boolean {
  return status === 'trialing' && (nextBillingDate === null || at <= nextBillingDate)
}
