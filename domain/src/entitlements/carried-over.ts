import type { Entitlement } from '@tollgate/schemas/hot-state/documents'
import { timestampPastMsMax } from '@tollgate/schemas/limits'
import { leavesUnits, unusedMicros } from '../pricing/roll-over.ts'
import { windowOfPeriod, type EntitledPeriod } from './counting-windows.ts'
import { leavingLimitMicros } from './first-period.ts'

/**
 * How long the counters of a period say what it leaves to the next one. Records of it are taken for less time than that,
 * and its counters are kept for longer; what is settled meanwhile takes their place.
 */
const countedForSeconds = timestampPastMsMax / 1000 + 2 * 86_400

/**
 * Units that the period was left by the one before, in 10^-6, by what is counted now: usage that is late makes them fewer.
 * None where that cannot be said, as the counters may be gone and nothing was settled.
 */
export function carriedOverMicros(
  entitlement: Entitlement,
  period: EntitledPeriod,
  amounts: ReadonlyMap<string, bigint>,
  nowMs: number,
): bigint {
  const settled = settledMicros(entitlement, period)
  if (settled !== undefined) return settled
  const before = entitledPeriodThatLeaves(entitlement, period, nowMs)
  if (before === undefined) return 0n
  const used = amounts.get(windowOfPeriod(entitlement, before.startSecond)) ?? 0n
  return unusedMicros(leavingLimitMicros(entitlement, before.startSecond), used)
}

/** The period whose usage decides what this one was left; undefined: there is none, or it is known without. */
export function entitledPeriodThatLeaves(
  entitlement: Entitlement,
  { startSecond }: EntitledPeriod,
  nowMs: number,
): EntitledPeriod | undefined {
  const { rollOver, periods } = entitlement
  if (rollOver === undefined || rollOver.settled?.startSecond === startSecond) return undefined
  if (!leavesUnits(rollOver, startSecond)) return undefined
  if ((startSecond + countedForSeconds) * 1000 <= nowMs) return undefined
  return periods.find(({ endSecond }) => endSecond === startSecond)
}

function settledMicros(
  { rollOver }: Entitlement,
  { startSecond }: EntitledPeriod,
): bigint | undefined {
  const settled = rollOver?.settled
  return settled?.startSecond === startSecond ? BigInt(settled.units) : undefined
}
