import type { Entitlement, EntitledPack, PackedMeter } from '@tollgate/schemas/hot-state/documents'
import { sumOf } from '../money/amounts.ts'
import { carriedOverMicros, countersKnowUntilMs } from './carried-over.ts'
import { windowOfPeriod, type EntitledPeriod } from './counting-windows.ts'

/** Units that packs add to a period, 10^-6. */
export type PackUnits = {
  /** Units in addition to those of the plan: what packs have paid for in the period, and what they can still pay for. */
  readonly addedMicros: bigint
  /** Units that no usage has taken. */
  readonly leftMicros: bigint
}

/**
 * Returns the units that packs add to the period, from the counters. Usage of a period that ended and is not settled yet takes its
 * units first, so the first check of a period sees what the period before has left. Undefined if the customer has no packs of the
 * meter.
 *
 * The answer never allows too much. While the counters do not tell what was used before, packs add nothing until the billing runner
 * has settled them. A pack that ended within a period adds nothing to it until then either.
 */
export function packUnits(
  entitlement: Entitlement,
  meterName: string,
  period: EntitledPeriod,
  amounts: ReadonlyMap<string, bigint>,
  nowMs: number,
): PackUnits | undefined {
  const meter = entitlement.packs?.meters.find((each) => each.meterName === meterName)
  if (meter === undefined) return undefined
  const left = leftBefore(entitlement, meter, period, amounts, nowMs)
  if (left === undefined) return { addedMicros: paidIn(meter, period), leftMicros: 0n }
  const now = Math.floor(nowMs / 1000)
  const isUsable = (pack: EntitledPack): boolean => lasts(pack, period, now + 1)
  const usable = sumOf(left.filter((_, at) => isUsable(meter.packs[at]!)))
  if (ownIn(entitlement, meter, period) === null) return { addedMicros: 0n, leftMicros: usable }
  draw(meter.packs, left, excessIn(entitlement, meter, period, amounts, nowMs), isUsable)
  const rest = sumOf(left.filter((_, at) => isUsable(meter.packs[at]!)))
  return { addedMicros: paidIn(meter, period) + usable, leftMicros: rest }
}

/**
 * Returns what the usage of the period and of those before it has left of each pack of the meter, in the order of the entitlement.
 * For display: units of a pack that ended are included. Undefined while the counters do not tell what was used before.
 */
export function leftOfPacks(
  entitlement: Entitlement,
  meter: PackedMeter,
  period: EntitledPeriod,
  amounts: ReadonlyMap<string, bigint>,
  nowMs: number,
): bigint[] | undefined {
  const left = leftBefore(entitlement, meter, period, amounts, nowMs)
  if (left === undefined) return undefined
  const now = Math.floor(nowMs / 1000)
  const excess = excessIn(entitlement, meter, period, amounts, nowMs)
  draw(meter.packs, left, excess, (pack) => lasts(pack, period, now + 1))
  return left
}

/** Returns what the usage of periods before this one has left of each pack. Undefined if the counters do not tell it. */
function leftBefore(
  entitlement: Entitlement,
  meter: PackedMeter,
  period: EntitledPeriod,
  amounts: ReadonlyMap<string, bigint>,
  nowMs: number,
): bigint[] | undefined {
  const unsettled = unsettledPeriods(entitlement, period, nowMs)
  if (unsettled === undefined) return undefined
  const left = meter.packs.map((pack) => BigInt(pack.units))
  for (const before of unsettled) {
    const excess = excessIn(entitlement, meter, before, amounts, nowMs)
    draw(meter.packs, left, excess, (pack) => lasts(pack, before, before.endSecond))
  }
  return left
}

/**
 * Returns the periods before this one whose usage is not settled. Undefined if there is usage that the counters of this purchase do
 * not have: that of an earlier purchase, or of a period so long ago that its counters may be deleted.
 */
function unsettledPeriods(
  { packs, periods, firstPeriodStartSecond, sharedWindow }: Entitlement,
  { startSecond }: EntitledPeriod,
  nowMs: number,
): EntitledPeriod[] | undefined {
  const { settledSecond } = packs!
  const [first] = periods
  const isShared = first?.startSecond === firstPeriodStartSecond && sharedWindow !== undefined
  const knownFrom = isShared ? sharedWindow.fromSecond : (first?.startSecond ?? startSecond)
  if (settledSecond < knownFrom) return undefined
  const unsettled = periods.filter(
    ({ endSecond }) => endSecond <= startSecond && endSecond > settledSecond,
  )
  return unsettled.every(({ endSecond }) => nowMs < countersKnowUntilMs(endSecond))
    ? unsettled
    : undefined
}

/** Returns the usage of the period that neither the plan nor settled units of packs provide. */
function excessIn(
  entitlement: Entitlement,
  meter: PackedMeter,
  period: EntitledPeriod,
  amounts: ReadonlyMap<string, bigint>,
  nowMs: number,
): bigint {
  const own = ownIn(entitlement, meter, period)
  if (own === null) return 0n
  const used = amounts.get(windowOfPeriod(entitlement, period.startSecond)) ?? 0n
  const carried = carriedOverMicros(entitlement, period, amounts, nowMs)
  const excess = used - own - carried - paidIn(meter, period)
  return excess > 0n ? excess : 0n
}

/** Returns the units of the plan that are used first. Null if packs are not used in the period, as in a trial. */
function ownIn(
  { packs, firstPeriodStartSecond }: Entitlement,
  { own, ownOfFirst = own }: PackedMeter,
  { startSecond }: EntitledPeriod,
): bigint | null {
  if (startSecond < packs!.fromSecond) return null
  const text = startSecond === firstPeriodStartSecond ? ownOfFirst : own
  return text === null ? null : BigInt(text)
}

function paidIn({ paid }: PackedMeter, { startSecond }: EntitledPeriod): bigint {
  return BigInt(paid.find((each) => each.startSecond === startSecond)?.units ?? 0)
}

/** Returns whether the pack begins within the period and has not ended at `untilSecond`. */
function lasts(
  { startSecond, endSecond }: EntitledPack,
  period: EntitledPeriod,
  untilSecond: number,
): boolean {
  return startSecond < period.endSecond && (endSecond === null || endSecond >= untilSecond)
}

/** Takes the units from the packs in their order. */
function draw(
  packs: readonly EntitledPack[],
  left: bigint[],
  micros: bigint,
  isUsable: (pack: EntitledPack) => boolean,
): void {
  let missing = micros
  for (const [at, pack] of packs.entries()) {
    if (!isUsable(pack)) continue
    const taken = left[at]! < missing ? left[at]! : missing
    left[at] = left[at]! - taken
    missing -= taken
  }
}
