import { firstPeriodToleranceSeconds } from '@tollgate/schemas/hot-state/documents'
import type { BilledPeriod } from '../invoices/billed-periods.ts'
import { unixSecond } from '../periods/periods.ts'
import type { ChargedPeriod } from '../pricing/invoice-line.ts'
import type { Purchase } from './repository.ts'
import type { UsageWindow } from '../stored-usage/query-stored-usage.ts'

/**
 * The time whose usage is billed with a period: its own, and of the first one a little before it, as it is counted. What
 * lies before the end of the customer's purchase before belongs to that, and to the whole second in which that ended.
 */
export function windowOf(
  { startDate }: Pick<Purchase, 'startDate'>,
  { start, end }: ChargedPeriod,
  endOfPrevious: Date | undefined,
): UsageWindow {
  const startSecond = unixSecond(start)
  const toSecond = wholeSecondAfter(end)
  if (startSecond !== unixSecond(startDate)) return { fromSecond: startSecond, toSecond }
  const early = startSecond - firstPeriodToleranceSeconds
  const fromSecond =
    endOfPrevious === undefined ? early : Math.max(early, wholeSecondAfter(endOfPrevious))
  return { fromSecond: Math.min(fromSecond, toSecond), toSecond }
}

/**
 * The time before the first period of a purchase in which its shared allowance was used; undefined for every other
 * period, and where nothing is shared. It ends where the period's own time begins.
 */
export function windowBefore(
  purchase: Pick<Purchase, 'startDate' | 'allowance'>,
  period: ChargedPeriod,
  endOfPrevious: Date | undefined,
): UsageWindow | undefined {
  const { startDate, allowance } = purchase
  if (allowance === null || unixSecond(period.start) !== unixSecond(startDate)) return undefined
  const toSecond = windowOf(purchase, period, endOfPrevious).fromSecond
  return { fromSecond: Math.min(unixSecond(allowance.since), toSecond), toSecond }
}

/** Billed periods that can have got records since they were last looked at, of some that are given newest first. */
export function periodsToLookAtAgain(
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
