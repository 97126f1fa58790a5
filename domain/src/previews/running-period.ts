import { farFuture } from '../entitlements/compile-entitlement.ts'
import { usagePeriodAt } from '../periods/periods.ts'
import type { ChargedPeriod } from '../pricing/invoice-line.ts'
import { cycleOf } from '../purchases/access.ts'
import type { Purchase } from '../purchases/repository.ts'

/**
 * Returns the period of the purchase that is running now. A purchase without a cycle has one period without an end. Undefined if the
 * purchase has ended or not begun.
 */
export function runningPeriodOf(purchase: Purchase, now: Date): ChargedPeriod | undefined {
  const { startDate, endedAt, endDate, anchor } = purchase
  const end = endedAt ?? endDate
  if (startDate > now || (end !== null && end <= now)) return undefined
  const cycle = cycleOf(purchase)
  if (cycle === undefined) return { start: anchor, end: end ?? farFuture }
  const period = usagePeriodAt(cycle, startDate, now)
  return { start: period.start, end: end !== null && end < period.end ? end : period.end }
}
