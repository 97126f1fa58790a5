import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import { pricesIn, withSetupFee } from '../pricing/plan-prices.ts'
import { pricesAt } from './offered-plan.ts'
import type { Purchase } from './purchase.ts'

/**
 * Returns the plan, which has no set-up fee, with the fee that the customer of a trial has agreed to pay at its end. Other customers
 * have paid the fee of their plan, or were never asked for one.
 */
export function withAgreedFee(plan: PlanSnapshot, held: Purchase): PlanSnapshot {
  const { status, planSnapshot: before, currency, planRef, anchor } = held
  if (status !== 'trialing' || before === null) return plan
  // A fee that is agreed with the customer for the same plan replaces that of the plan when the trial ends.
  const prices = plan.reference === planRef ? pricesIn(before, currency) : pricesAt(held, anchor)
  return withSetupFee(plan, currency, prices?.setupFeeMinor ?? 0n)
}
