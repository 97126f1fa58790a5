import type { AgreedPrice, RampStep } from '@tollgate/schemas/http/agreed-prices'
import {
  periodIndexAt,
  periodOf,
  wholeSecond,
  type Cycle,
  type CycleMode,
} from '../periods/periods.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import { currentOverrides, type OverridesVersion } from './overrides.ts'
import { isPriceOf, offeredPlanAhead } from './priced-plan.ts'

/** Prices of a plan from the start of one of its periods on. */
export type PriceStep<Plan extends PlanSnapshot> = { readonly from: Date; readonly plan: Plan }

/** Maximum number of steps that are shown. Further ones would not help a customer to decide. */
const stepsShownMax = 12

/**
 * Returns the later prices of a plan on offer whose first period would begin at `begins`, oldest first. Empty if the prices stay the
 * same. `plan` has the prices of the customer now.
 */
export function priceStepsAhead<Plan extends PlanSnapshot>(
  plan: Plan,
  versions: readonly OverridesVersion[],
  { begins, mode }: { readonly begins: Date; readonly mode: CycleMode },
): PriceStep<Plan>[] {
  const { billingCycle, billingCycleDays: customDays } = plan.terms
  if (billingCycle === undefined) return []
  const cycle = { anchor: wholeSecond(begins), billingCycle, mode, customDays }
  return changingPeriods(plan, versions, cycle)
    .slice(0, stepsShownMax)
    .map((index) => {
      const from = periodOf(cycle, index).start
      return { from, plan: offeredPlanAhead(plan, versions, from, index) }
    })
}

/** Returns the periods with which a price can change, in order: where a step of a ramp or an agreed time begins or ends. */
function changingPeriods(
  plan: PlanSnapshot,
  versions: readonly OverridesVersion[],
  cycle: Cycle,
): number[] {
  const { terms, listed, rampPeriods: own } = plan
  const had = listed?.rampPeriods ?? own ?? 0
  const agreed = (currentOverrides(versions).prices ?? []).filter((price) => isPriceOf(price, plan))
  const ramps = [(listed?.terms ?? terms).ramp, ...agreed.map(({ ramp }) => ramp)]
  const indexes = [
    ...ramps.flatMap((ramp) => endsOf(ramp).map((end) => end - had)),
    ...agreed.flatMap((price) => boundsOf(price, cycle)),
  ]
  return [...new Set(indexes.filter((index) => index > 0))].sort((one, other) => one - other)
}

function endsOf(ramp: readonly RampStep[] = []): number[] {
  let end = 0
  return ramp.map(({ periods }) => (end += periods))
}

/** Returns the first period that begins at each of the times, or after it. */
function boundsOf({ from, until }: AgreedPrice, cycle: Cycle): number[] {
  return [from, until].flatMap((text) => {
    if (text === undefined) return []
    const at = new Date(text)
    const index = periodIndexAt(cycle, at)
    return [periodOf(cycle, index).start < at ? index + 1 : index]
  })
}
