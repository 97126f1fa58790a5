import { windowId } from '@tollgate/schemas/hot-state/documents'
import { billedWindowOf } from './usage-windows.ts'
import { farFuture } from '../entitlements/compile-entitlement.ts'
import { planOfNextPeriod } from '../overrides/overridden-plan.ts'
import { includedMicros } from '../plans/included-units.ts'
import { periodOf, unixSeconds, usagePeriodAt } from '../periods/periods.ts'
import { cycleOf, givesAccess } from './access.ts'
import type { Purchase } from './repository.ts'
import type { SharedAllowance } from '../entitlements/shared-allowance.ts'

/*
 * A customer gets a full allowance (limit, free units) for each period whose full price was charged, and for each period that costs
 * nothing in advance. A purchase that starts in any other way shares the current allowance: usage since the start of that allowance
 * counts against its first period. So does usage of a period that was never paid.
 */

export type AllowanceInput = {
  /** The purchase of the product whose usage may count: the latest one, as it was before the new one replaced it. */
  readonly previous: Purchase | undefined
  /** When the customer's purchase before `previous` ended, if there is one. */
  readonly endBeforePrevious: Date | undefined
  /** The new purchase. */
  readonly purchase: Purchase
  /** Whether the full price of the first period was charged. */
  readonly isPaidInFull: boolean
  /** Whether `previous` gave access without being paid for. In that case it may be older than the latest purchase. */
  readonly isUnpaid: boolean
}

/** Returns the allowance that the new purchase shares; null if it starts a full allowance. */
export function shareAllowance(input: AllowanceInput): SharedAllowance | null {
  const { previous, purchase, isPaidInFull } = input
  if (previous === undefined) return null
  if (isPaidInFull) return shareUnpaidAllowance(input, previous)
  const { endBeforePrevious } = input
  if (countsFromChange(previous, purchase)) return null
  const at = purchase.startDate
  const running = allowanceAt(previous, endBeforePrevious, purchase)
  if (running === undefined || running.until <= at) return null
  // A change to a longer period extends the allowance. Otherwise a change back would end it early.
  const until = periodEndFrom(purchase, running.since)
  return until > running.until ? { ...running, until } : running
}

/**
 * One price pays for one allowance, so units used in an unpaid period count against the paid one. Units of a plan without a limit
 * do not, because their value is not known.
 */
function shareUnpaidAllowance(
  { endBeforePrevious, purchase, isUnpaid }: AllowanceInput,
  previous: Purchase,
): SharedAllowance | null {
  if (!isUnpaid || previous.planSnapshot === null) return null
  if (includedMicros(planOfNextPeriod(previous.planSnapshot, previous)) === null) return null
  const unpaid = allowanceAt(previous, endBeforePrevious, purchase)
  return unpaid === undefined
    ? null
    : { ...unpaid, until: periodEndFrom(purchase, purchase.startDate) }
}

/** Returns whether the units of a change within a period cover only the rest of it, because the plan before had no limit. */
function countsFromChange(previous: Purchase, { firstIncludedMicros }: Purchase): boolean {
  if (firstIncludedMicros === null || previous.planSnapshot === null) return false
  return includedMicros(planOfNextPeriod(previous.planSnapshot, previous)) === null
}

/** Returns the allowance of `previous` in the period in which the new purchase replaces it. */
export function allowanceAt(
  previous: Purchase,
  endBeforePrevious: Date | undefined,
  purchase: Purchase,
): SharedAllowance | undefined {
  if (previous.planSnapshot === null) return undefined
  const { reference, startDate, allowance } = previous
  const cycle = cycleOf(previous)
  const period =
    cycle === undefined
      ? { start: startDate, end: endOfTerm(previous, purchase) }
      : usagePeriodAt(cycle, startDate, lastInstant(previous, purchase.createdAt))
  const isFirst = period.start.getTime() === startDate.getTime()
  if (isFirst && allowance !== null) return allowance
  const { fromSecond } = billedWindowOf(previous, period, endBeforePrevious)
  return {
    window: windowId(reference, unixSeconds(period.start)),
    since: new Date(fromSecond * 1000),
    until: period.end,
  }
}

/**
 * Returns the last instant before the end of the purchase, or before the new purchase. The instant at which a period starts belongs
 * to that period, not to the one before.
 */
function lastInstant({ endedAt, endDate, startDate }: Purchase, now: Date): Date {
  const ends = [endedAt, endDate, now].flatMap((end) => (end === null ? [] : [end.getTime()]))
  return new Date(Math.max(startDate.getTime(), Math.min(...ends) - 1))
}

/**
 * A plan without a cycle has one allowance for as long as it gives access. If it is replaced, the allowance lasts for one more
 * period.
 */
function endOfTerm(previous: Purchase, purchase: Purchase): Date {
  if (!givesAccess(previous, purchase.startDate)) return purchase.startDate
  return periodEndFrom(purchase, purchase.startDate)
}

function periodEndFrom(purchase: Purchase, anchor: Date): Date {
  const cycle = cycleOf(purchase)
  return cycle === undefined
    ? (purchase.endDate ?? farFuture)
    : periodOf({ ...cycle, anchor }, 0).end
}
