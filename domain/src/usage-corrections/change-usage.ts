import type { UsageToPrice, UsedPeriod } from '../billing/usage-lines.ts'
import { matchingRow, passesFilter } from '../plans/match-dimensions.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import { billedCharges, type BilledCharge } from '../pricing/billed-charges.ts'
import type { ChargedPeriod } from '../pricing/invoice-line.ts'
import { billedWindowOf, windowBefore } from '../purchases/usage-windows.ts'
import type { Purchase } from '../purchases/repository.ts'
import type { UsageWindow } from '../stored-usage/query-stored-usage.ts'

/** A difference that a correction makes to the usage of one customer and product. */
export type UsageDifference = {
  readonly meterName: string
  /** Unix milliseconds. */
  readonly timestamp: number
  readonly dimensions: Readonly<Record<string, string>>
  /** 10^-6 units. */
  readonly micros: bigint
}

/** Returns measured usage with the differences added, to price a correction that is not applied yet. */
export function withDifferences(
  usage: UsageToPrice,
  purchase: Purchase,
  plan: PlanSnapshot,
  endOfPrevious: Date | undefined,
  differences: readonly UsageDifference[],
): UsageToPrice {
  const charges = billedCharges(plan)
  return usage.map((measured) => {
    const charge = charges.find(({ key }) => key === measured.key)
    if (charge === undefined) return measured
    const own = differences.filter((each) => isOfCharge(charge, each))
    const changed = <Used extends UsedPeriod>(used: Used): Used =>
      withOwn(used, charge, windowsOf(purchase, used.period, endOfPrevious), own)
    return {
      ...measured,
      current: measured.current && changed(measured.current),
      earlier: measured.earlier.map(changed),
    }
  })
}

/** Returns whether a difference is in the time whose usage is billed with the period. */
export function hasDifference(
  purchase: Purchase,
  period: ChargedPeriod,
  endOfPrevious: Date | undefined,
  differences: readonly UsageDifference[],
): boolean {
  const { own, before } = windowsOf(purchase, period, endOfPrevious)
  return differences.some(
    ({ timestamp }) =>
      isWithin(own, timestamp) || (before !== undefined && isWithin(before, timestamp)),
  )
}

type Windows = { readonly own: UsageWindow; readonly before: UsageWindow | undefined }

function windowsOf(
  purchase: Purchase,
  period: ChargedPeriod,
  endOfPrevious: Date | undefined,
): Windows {
  return {
    own: billedWindowOf(purchase, period, endOfPrevious),
    before: windowBefore(purchase, period, endOfPrevious),
  }
}

function isOfCharge(
  { meterName, where }: BilledCharge,
  difference: Pick<UsageDifference, 'meterName' | 'dimensions'>,
): boolean {
  if (difference.meterName !== meterName) return false
  return where === undefined || passesFilter(where, difference.dimensions)
}

function withOwn<Used extends UsedPeriod>(
  used: Used,
  { terms }: BilledCharge,
  { own, before }: Windows,
  differences: readonly UsageDifference[],
): Used {
  const inOwn = differences.filter(({ timestamp }) => isWithin(own, timestamp))
  const inBefore =
    before === undefined ? [] : differences.filter(({ timestamp }) => isWithin(before, timestamp))
  const matrix = terms.rate.kind === 'matrix' ? terms.rate : undefined
  const rowMicros =
    used.rowMicros === undefined || matrix === undefined
      ? undefined
      : withRows(used.rowMicros, matrix.rows, inOwn)
  return {
    ...used,
    usedMicros: used.usedMicros + sumOf(inOwn),
    // A matrix does not depend on usage before.
    usedBeforeMicros:
      matrix === undefined ? used.usedBeforeMicros + sumOf(inBefore) : used.usedBeforeMicros,
    ...(rowMicros === undefined ? {} : { rowMicros }),
  }
}

/** Adds the differences to the units of each row. The last number of `rowMicros` is for records that match no row. */
function withRows(
  rowMicros: readonly bigint[],
  rows: Parameters<typeof matchingRow>[0],
  differences: readonly UsageDifference[],
): bigint[] {
  const changed = [...rowMicros]
  for (const { dimensions, micros } of differences) {
    const row = matchingRow(rows, dimensions)
    const at = row === -1 ? changed.length - 1 : row
    changed[at] = changed[at]! + micros
  }
  return changed
}

function isWithin({ fromSecond, toSecond }: UsageWindow, timestamp: number): boolean {
  return timestamp >= fromSecond * 1_000 && timestamp < toSecond * 1_000
}

function sumOf(differences: readonly UsageDifference[]): bigint {
  return differences.reduce((sum, { micros }) => sum + micros, 0n)
}
