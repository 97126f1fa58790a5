import type { Entitlement } from '@tollgate/schemas/hot-state/documents'
import { timestampPastMsMax } from '@tollgate/schemas/limits'
import { rollsUnitsOver, unusedMicros } from '../pricing/roll-over.ts'
import { windowOfPeriod, type EntitledPeriod } from './counting-windows.ts'
import { rollOverLimitOfPeriod } from './first-period.ts'

/**
 * How long the counters of a period can tell what it leaves to the next period, in seconds. Late records are accepted
 * for a shorter time, and the counters are kept for a longer time. After that, the settled units replace the counters.
 */
const countedForSeconds = timestampPastMsMax / 1000 + 2 * 86_400

/** Returns the Unix millisecond until which the counters of a period that ended then are believed. */
export function countersKnowUntilMs(endSecond: number): number {
  return (endSecond + countedForSeconds) * 1000
}

/**
 * Returns the units that were carried over into the period, in 10^-6 units, from the current counters. Late usage of
 * the previous period reduces them. Returns 0 if the counters may be deleted already and no units were settled.
 */
export function carriedOverMicros(
  entitlement: Entitlement,
  period: EntitledPeriod,
  amounts: ReadonlyMap<string, bigint>,
  nowMs: number,
): bigint {
  const settled = settledMicros(entitlement, period)
  if (settled !== undefined) return settled
  const before = findPeriodToRollOver(entitlement, period, nowMs)
  if (before === undefined) return 0n
  const used = amounts.get(windowOfPeriod(entitlement, before.startSecond)) ?? 0n
  return unusedMicros(rollOverLimitOfPeriod(entitlement, before.startSecond), used)
}

/**
 * Returns the previous period, if its usage decides what was carried over into this period. Returns undefined if there
 * is no such period, or if the carried units are known without it.
 */
export function findPeriodToRollOver(
  entitlement: Entitlement,
  { startSecond }: EntitledPeriod,
  nowMs: number,
): EntitledPeriod | undefined {
  const { rollOver, periods } = entitlement
  if (rollOver === undefined || rollOver.settled?.startSecond === startSecond) return undefined
  if (!rollsUnitsOver(rollOver, startSecond)) return undefined
  if (countersKnowUntilMs(startSecond) <= nowMs) return undefined
  return periods.find(({ endSecond }) => endSecond === startSecond)
}

function settledMicros(
  { rollOver }: Entitlement,
  { startSecond }: EntitledPeriod,
): bigint | undefined {
  const settled = rollOver?.settled
  return settled?.startSecond === startSecond ? BigInt(settled.units) : undefined
}
