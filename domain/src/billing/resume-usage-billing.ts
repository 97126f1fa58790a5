import { extendUsagePeriod } from '../invoices/billed-periods.ts'
import { periodAt, usagePeriodAt } from '../periods/periods.ts'
import { billsWithinPeriods } from '../plans/bill-threshold.ts'
import { billsUsage } from '../pricing/billed-charges.ts'
import { cycleOf } from '../purchases/access.ts'
import { creditUndoneUsage } from './credit-undone-usage.ts'
import { updateUsageBilling } from '../purchases/purchase-fields-repository.ts'
import type { Purchase } from '../purchases/repository.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'

/**
 * Resumes usage billing of a purchase that a change of plan had ended and that is active again. `before` is the
 * purchase as it was ended. `undone` are the purchases that replaced it. Usage since then is billed with the period of
 * this purchase, and bills within the period of a replacing purchase are credited. If such a purchase was billed to the end of a
 * period, the usage stays with it, so that nothing is billed twice.
 *
 * If the final bill was already issued, the period that it billed gets its regular end back. The next bill charges the
 * usage since then as late usage, priced after the units that were already billed.
 */
export async function resumeUsageBilling(
  work: UnitOfWork,
  before: Purchase,
  undone: readonly string[],
): Promise<void> {
  const { sql, providerId } = work
  const { reference, planSnapshot, startDate, endedAt, nextUsageBillAt } = before
  const cycle = cycleOf(before)
  if (planSnapshot === null || !billsUsage(planSnapshot)) return
  if (cycle === undefined || endedAt === null) return
  const period = usagePeriodAt(cycle, startDate, new Date(endedAt.getTime() - 1))
  const nextEnd = periodAt(cycle, period.end).end
  const isBilledElsewhere = !(await creditUndoneUsage(work, undone))
  const isFinal = nextUsageBillAt === null
  const isExtended =
    isFinal && !isBilledElsewhere && (await extendUsagePeriod(sql, providerId, reference, period))
  const isWhole = !isBilledElsewhere && !isExtended
  // Usage after the change of plan stays with the purchase that was billed for it. A part of the period that this one was billed for
  // gets no usage after that, and its rest is late usage of the next bill.
  if (isBilledElsewhere && billsWithinPeriods(planSnapshot)) {
    await extendUsagePeriod(sql, providerId, reference, { start: period.start, end: endedAt })
  }
  await updateUsageBilling(sql, providerId, {
    reference,
    nextUsageBillAt: isWhole ? period.end : nextEnd,
    usageClosesAt: null,
  })
}
