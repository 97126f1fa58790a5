import { withoutAddOns } from '../plans/add-ons.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import { pricesIn, withSetupFee } from '../pricing/plan-prices.ts'
import type { Purchase } from './purchase.ts'

/**
 * Returns the plan, which has no set-up fee, with the fee that the customer of a trial has agreed to pay at its end. Other customers
 * have paid the fee of their plan, or were never asked for one. A change after the trial comes when its end has charged the fee.
 */
export function withAgreedFee(
  plan: PlanSnapshot,
  held: Pick<Purchase, 'status' | 'planSnapshot' | 'currency' | 'nextBillingDate'>,
  changesAt: Date,
): PlanSnapshot {
  const { planSnapshot: before, currency } = held
  if (before === null || !isInTrial(held, changesAt)) return plan
  // The add-ons that the plan allows bring their own fees.
  const prices = pricesIn(withoutAddOns(before), currency)
  return withSetupFee(plan, currency, prices?.setupFeeMinor ?? 0n)
}

/** Returns whether the purchase is on trial until then. The end of the trial is the last time. */
export function isInTrial(
  { status, nextBillingDate }: Pick<Purchase, 'status' | 'nextBillingDate'>,
  at: Date,
): boolean {
  return status === 'trialing' && (nextBillingDate === null || at <= nextBillingDate)
}
