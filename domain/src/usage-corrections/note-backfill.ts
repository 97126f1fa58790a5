import type { TransactionSql } from 'postgres'
import {
  listUnbilledTouched,
  noteCorrectedPeriods,
  type TouchedPeriod,
  type TouchedPurchase,
  type TouchedUsage,
} from '../invoices/corrected-periods.ts'
import { usagePeriodAt } from '../periods/periods.ts'
import { cycleOf } from '../purchases/access.ts'
import { listPurchases } from '../purchases/repository.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'

/**
 * Notes the periods of usage that is announced before it is in the log, for bills until `keptUntil`: billed periods, and those that
 * are billed meanwhile. Without the latter, a period that is billed after the announcement and again before the usage is in the log
 * would have had its last bill.
 */
export async function noteBackfill(
  { sql, providerId, now }: Pick<UnitOfWork, 'sql' | 'providerId' | 'now'>,
  touched: readonly TouchedUsage[],
  keptUntil: Date,
): Promise<void> {
  // These are read first: a period that is claimed between both reads is a billed one for the second.
  const unbilled = await listUnbilledPeriods(sql, providerId, touched, keptUntil)
  await noteCorrectedPeriods(sql, providerId, touched, now, { keptUntil, unbilled })
}

/** Returns the periods of the usage that are not billed yet, and are over by `keptUntil`. */
async function listUnbilledPeriods(
  sql: TransactionSql,
  providerId: string,
  touched: readonly TouchedUsage[],
  keptUntil: Date,
): Promise<TouchedPeriod[]> {
  const used = await listUnbilledTouched(sql, providerId, touched, keptUntil)
  const references = [...new Set(used.map(({ purchaseRef }) => purchaseRef))]
  if (references.length === 0) return []
  const filter = { references, rowsMax: references.length }
  const purchases = await listPurchases(sql, providerId, filter)
  const byReference = new Map(purchases.map((each) => [each.reference, each]))
  return used.flatMap(({ purchaseRef, usedAt }: TouchedPurchase) => {
    const purchase = byReference.get(purchaseRef)
    if (purchase === undefined) return []
    const { startDate, anchor, nextUsageBillAt } = purchase
    const endsAt = purchase.endedAt ?? purchase.endDate
    const isOver = (end: Date): boolean =>
      end <= keptUntil || (endsAt !== null && endsAt <= keptUntil)
    const cycle = cycleOf(purchase)
    // A purchase without periods has one bill, when it has ended.
    if (cycle === undefined) return [{ purchaseRef, start: anchor }]
    // Usage shortly before the start, or in an allowance that the first period shares, belongs to the first period.
    const instant = usedAt < startDate ? startDate : usedAt
    const { start, end } = usagePeriodAt(cycle, startDate, instant)
    const isUnbilled = nextUsageBillAt !== null && end >= nextUsageBillAt
    return isUnbilled && isOver(end) ? [{ purchaseRef, start }] : []
  })
}
