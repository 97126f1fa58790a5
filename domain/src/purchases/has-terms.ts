import { isDeepStrictEqual } from 'node:util'
import { snapshotOf, type PlanSnapshot } from '../plans/plan-snapshot.ts'
import { withoutSetupFee } from '../pricing/plan-prices.ts'

/** Returns whether both have the same terms. A set-up fee is no term of a purchase that has begun. */
export function hasTerms(before: PlanSnapshot, plan: PlanSnapshot): boolean {
  return isDeepStrictEqual(comparable(before), comparable(plan))
}

/** Fields without a value are absent in what is stored, and may be undefined in a plan. */
function comparable(plan: PlanSnapshot): unknown {
  const { rampPeriods: _had, ...terms } = withoutSetupFee(snapshotOf(plan))
  return JSON.parse(JSON.stringify(terms))
}
