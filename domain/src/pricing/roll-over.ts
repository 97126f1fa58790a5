import type { Leaving } from '@tollgate/schemas/hot-state/documents'
import { microsFromNumber } from '@tollgate/schemas/quantity'
import { unixSecond } from '../periods/periods.ts'
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
export function unusedMicros(limitMicros: bigint, usedMicros: bigint): bigint {
  return limitMicros > usedMicros ? limitMicros - usedMicros : 0n
}

/** What a period of the plan leaves to the next one, 10^-6 units. */
export function rolledOverMicros(plan: PlanCore, usedMicros: bigint): bigint {
  const limit = rollingLimitMicros(plan)
  return limit === undefined ? 0n : unusedMicros(limit, usedMicros)
}

/** What of a purchase decides which of its periods leave something. */
export type RollingPurchase = {
  readonly anchor: Date
  /** When it was last suspended; null where it was restored: nobody noted it, so it counts from the anchor on. */
  readonly suspendedAt: Date | null
  /** When access was given back after that; null: it was not. */
  readonly accessRestoredAt: Date | null
}

/** Which periods of the purchase leave something, as limit checks and bills go by it. */
export function leavingOf({ anchor, suspendedAt, accessRestoredAt }: RollingPurchase): Leaving {
  const fromSecond = unixSecond(anchor)
  if (suspendedAt === null && accessRestoredAt === null) return { fromSecond }
  const withoutAccess = {
    fromSecond: unixSecond(suspendedAt ?? anchor),
    untilSecond: accessRestoredAt === null ? null : unixSecond(accessRestoredAt),
  }
  return { fromSecond, withoutAccess }
}

/** Whether the period that ended at that second leaves something: not the trial, nor one that ended without access. */
export function leavesUnits({ fromSecond, withoutAccess }: Leaving, endSecond: number): boolean {
  if (endSecond <= fromSecond) return false
  if (withoutAccess === undefined || endSecond <= withoutAccess.fromSecond) return true
  return withoutAccess.untilSecond !== null && endSecond > withoutAccess.untilSecond
}
