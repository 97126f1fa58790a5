import { withoutAddOns } from '../plans/add-ons.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import { pricesIn, withSetupFee } from '../pricing/plan-prices.ts'
import type { Purchase } from './purchase.ts'

/**
 * Returns the plan, which has no set-up fee, with the fee that the customer of a trial has agreed to pay at its end. Other customers
 * have paid the fee of their plan, or were never asked for one.
 */
export function withAgreedFee(
  plan: PlanSnapshot,
  {
    status,
    planSnapshot: before,
    currency,
  }: Pick<Purchase, 'status' | 'planSnapshot' | 'currency'>,
): PlanSnapshot {
  if (status !== 'trialing' || before === null) return plan
  // The add-ons that the plan allows bring their own fees.
  const prices = pricesIn(withoutAddOns(before), currency)
  return withSetupFee(plan, currency, prices?.setupFeeMinor ?? 0n)
}
