import { findOverrides } from '../overrides/repository.ts'
import type { Plan } from '../plans/plan.ts'
import { periodPriceOf } from '../pricing/plan-prices.ts'
import { offerTo } from '../purchases/offered-plan.ts'
import { findDecidingPurchase, findLastOfPlan, hasPaidForPlan } from '../purchases/repository.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'

/** Returns the amount due before the plan starts, in minor units, with the prices of the customer. */
export async function firstChargeMinor(
  { sql, providerId, now }: Pick<UnitOfWork, 'sql' | 'providerId' | 'now'>,
  { customerRef, productRef }: { readonly customerRef: string; readonly productRef: string | null },
  plan: Plan,
): Promise<number> {
  if (productRef === null) return firstPriceOf(plan)
  const last = await findDecidingPurchase(sql, providerId, customerRef, productRef)
  const ofPlan = { customerRef, productRef, planRef: plan.reference }
  const lastOfPlan = await findLastOfPlan(sql, providerId, ofPlan)
  const overrides = await findOverrides(sql, providerId, customerRef, productRef)
  const priced = offerTo(plan, { last, lastOfPlan, overrides }, now)
  const base = firstPriceOf(priced)
  if (priced.setupFeeMinor === null) return base
  return (await hasPaidForPlan(sql, providerId, ofPlan)) ? base : base + priced.setupFeeMinor
}

/** The price of a usage-based plan buys credits when the plan starts. */
function firstPriceOf(plan: Plan): number {
  return plan.type === 'usage-based' ? plan.priceMinor : periodPriceOf(plan)
}
