import { firstPeriodToleranceSeconds } from '@tollgate/schemas/hot-state/documents'
import type { BilledPeriod } from '../invoices/billed-periods.ts'
import { unixSeconds } from '../periods/periods.ts'
import type { ChargedPeriod } from '../pricing/invoice-line.ts'
import type { Purchase } from './repository.ts'
import type { UsageWindow } from '../stored-usage/query-stored-usage.ts'

/**
 * Returns the time window whose usage is billed with a period: the period itself, and for the first period a short tolerance before
 * it, as in counting. Usage before the end of the customer's previous purchase belongs to that purchase, including the whole second
 * in which it ended.
 */
export function billedWindowOf(
  { startDate }: Pick<Purchase, 'startDate'>,
  { start, end }: ChargedPeriod,
  endOfPrevious: Date | undefined,
): UsageWindow {
  const startSecond = unixSeconds(start)
  const toSecond = wholeSecondAfter(end)
  if (startSecond !== unixSeconds(startDate)) return { fromSecond: startSecond, toSecond }
  const early = startSecond - firstPeriodToleranceSeconds
  const fromSecond =
    endOfPrevious === undefined ? early : Math.max(early, wholeSecondAfter(endOfPrevious))
  return { fromSecond: Math.min(fromSecond, toSecond), toSecond }
}

/**
 * Returns the time before the first period of a purchase in which its shared allowance was used. It ends where the window of the
 * period begins. Undefined for other periods, and if no allowance is shared.
 */
export function windowBefore(
  purchase: Pick<Purchase, 'startDate' | 'allowance'>,
  period: ChargedPeriod,
  endOfPrevious: Date | undefined,
): UsageWindow | undefined {
  const { startDate, allowance } = purchase
  if (allowance === null || unixSeconds(period.start) !== unixSeconds(startDate)) return undefined
  const toSecond = billedWindowOf(purchase, period, endOfPrevious).fromSecond
  return { fromSecond: Math.min(unixSeconds(allowance.since), toSecond), toSecond }
}

/** Returns the billed periods that can have received records since they were billed last. `billed` is sorted newest first. */
export function periodsWithLateUsage(
  billed: readonly BilledPeriod[],
  lateMs: number,
): BilledPeriod[] {
  const [newest] = billed
  if (newest === undefined) return []
  return billed.filter(({ end }) => end.getTime() + lateMs > newest.billedAt.getTime())
}

function wholeSecondAfter(instant: Date): number {
  return Math.ceil(instant.getTime() / 1000)
}
