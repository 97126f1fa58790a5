import { periodAt } from '../periods/periods.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import { pricesIn } from '../pricing/plan-prices.ts'
import { cycleOf, type CyclingPurchase } from './access.ts'
import { planAt } from './offered-plan.ts'
import type { Purchase } from './purchase.ts'

type PaidPurchase = CyclingPurchase &
  Pick<Purchase, 'currency' | 'startDate' | 'firstPaidMinor' | 'overrides'>

/**
 * Returns what was charged for the period of the purchase at that time, in minor units and before discounts. It is the price of that
 * period, except in the period that a change kept: the plan before was paid for it. A further change credits no more than that.
 */
export function paidPriceAt(held: PaidPurchase, plan: PlanSnapshot, at: Date): bigint {
  const { firstPaidMinor, startDate, currency } = held
  const cycle = cycleOf(held)
  const isFirst = cycle !== undefined && periodAt(cycle, at).start <= startDate
  if (firstPaidMinor !== undefined && isFirst) return firstPaidMinor
  return pricesIn(planAt(held, plan, at), currency)?.priceMinor ?? 0n
}
