import { microsFromNumber } from '@tollgate/schemas/quantity'
import type { PlanCore } from '../plans/plan.ts'

/**
 * Units that a period leaves to the next one, in 10^-6: what it did not use of the plan's own limit. What it was left
 * itself is not passed on.
 */
export function rolledOverMicros(plan: PlanCore, usedMicros: bigint): bigint {
  const { limit, rolloverUnusedUnits } = plan.terms
  if (rolloverUnusedUnits !== true || limit === undefined || limit <= 0) return 0n
  const left = BigInt(microsFromNumber(limit) ?? 0) - usedMicros
  return left > 0n ? left : 0n
}
