import { microsFromNumber } from '@tollgate/schemas/quantity'
import type { PlanCore } from '../plans/plan.ts'

/** Units of a period that are left to the next one where they are not used, in 10^-6; undefined: nothing is. */
export function rollingLimitMicros({ terms }: PlanCore): bigint | undefined {
  const { limit, rolloverUnusedUnits } = terms
  if (rolloverUnusedUnits !== true || limit === undefined || limit <= 0) return undefined
  return BigInt(microsFromNumber(limit) ?? 0)
}

/**
 * Units that a period leaves to the next one, in 10^-6: what it did not use of the plan's own limit. What it was left
 * itself is not passed on.
 */
export function leftMicros(limitMicros: bigint, usedMicros: bigint): bigint {
  return limitMicros > usedMicros ? limitMicros - usedMicros : 0n
}

/** What a period of the plan leaves to the next one, 10^-6 units. */
export function rolledOverMicros(plan: PlanCore, usedMicros: bigint): bigint {
  const limit = rollingLimitMicros(plan)
  return limit === undefined ? 0n : leftMicros(limit, usedMicros)
}

/** What of a purchase decides from when on its periods leave something. */
export type RollingPurchase = {
  readonly anchor: Date
  /** When access was last given back to what was suspended. */
  readonly accessRestoredAt: Date | null
}

/** Periods that ended by then leave nothing: the trial, and those that passed without access. */
export function rollsOverFrom({ anchor, accessRestoredAt }: RollingPurchase): Date {
  return accessRestoredAt !== null && accessRestoredAt > anchor ? accessRestoredAt : anchor
}
