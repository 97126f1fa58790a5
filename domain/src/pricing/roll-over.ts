import type { Leaving } from '@tollgate/schemas/hot-state/documents'
import { microsFromNumber } from '@tollgate/schemas/quantity'
import { unixSeconds } from '../periods/periods.ts'
import type { PlanCore } from '../plans/plan.ts'

/**
 * Returns the units of a period that are carried over to the next one if unused, 10^-6; undefined if the plan carries nothing over.
 */
export function rollOverLimitMicros({ terms }: PlanCore): bigint | undefined {
  const { limit, rolloverUnusedUnits } = terms
  if (rolloverUnusedUnits !== true || limit === undefined || limit <= 0) return undefined
  return BigInt(microsFromNumber(limit) ?? 0)
}

/**
 * Returns the units that a period carries over to the next one, 10^-6: the unused units of the plan's own limit. Units carried over
 * into the period are not passed on.
 */
export function unusedMicros(limitMicros: bigint, usedMicros: bigint): bigint {
  return limitMicros > usedMicros ? limitMicros - usedMicros : 0n
}

/** Returns the units that a period of the plan carries over to the next one, 10^-6. */
export function rolledOverMicros(plan: PlanCore, usedMicros: bigint): bigint {
  const limit = rollOverLimitMicros(plan)
  return limit === undefined ? 0n : unusedMicros(limit, usedMicros)
}

/** Fields of a purchase that decide which of its periods carry units over. */
export type RollOverPurchase = {
  readonly anchor: Date
  /**
   * When the purchase was last suspended. Null if access was restored but the suspension was not recorded, so it counts from the
   * anchor.
   */
  readonly suspendedAt: Date | null
  /** When access was restored after that; null if it was not. */
  readonly accessRestoredAt: Date | null
}

/** Returns which periods of the purchase carry units over, for limit checks and bills. */
export function rollOverSpan({ anchor, suspendedAt, accessRestoredAt }: RollOverPurchase): Leaving {
  const fromSecond = unixSeconds(anchor)
  if (suspendedAt === null && accessRestoredAt === null) return { fromSecond }
  const withoutAccess = {
    fromSecond: unixSeconds(suspendedAt ?? anchor),
    untilSecond: accessRestoredAt === null ? null : unixSeconds(accessRestoredAt),
  }
  return { fromSecond, withoutAccess }
}

/**
 * Returns whether the period that ended at that second carries units over. A trial and a period that ended without access do not.
 */
export function rollsUnitsOver({ fromSecond, withoutAccess }: Leaving, endSecond: number): boolean {
  if (endSecond <= fromSecond) return false
  if (withoutAccess === undefined || endSecond <= withoutAccess.fromSecond) return true
  return withoutAccess.untilSecond !== null && endSecond > withoutAccess.untilSecond
}
