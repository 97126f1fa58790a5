import type { Queryable } from '@tollgate/platform/database/database'
import { usagePeriodAt } from '../periods/periods.ts'
import { pricesIn } from '../pricing/plan-prices.ts'
import { cycleOf } from './access.ts'
import type { Purchase } from './repository.ts'
import { endedSuspended } from './suspension.ts'

/**
 * Since when the purchase gave access without being paid for it: a renewal that was not charged yet, or that failed, and
 * that is void because the purchase has ended. Undefined: all of it was paid, or nothing is due beforehand.
 */
export async function findUnpaidSince(
  sql: Queryable,
  providerId: string,
  purchase: Purchase,
  now: Date,
): Promise<Date | undefined> {
  const { planSnapshot, currency, paidAt, reference, startDate } = purchase
  const cycle = cycleOf(purchase)
  if (planSnapshot === null || cycle === undefined || paidAt === null) return undefined
  if ((pricesIn(planSnapshot, currency)?.priceMinor ?? 0n) === 0n) return undefined
  const [row] = await sql<{ paid_until: Date | null }[]>`
    select max(period_end) as paid_until from billed_periods as billed
    join invoices on invoices.provider_id = billed.provider_id
      and invoices.reference = billed.invoice_ref
    where billed.provider_id = ${providerId} and billed.purchase_ref = ${reference}
      and billed.part = 'recurring' and invoices.status in ('paid', 'partly_refunded', 'refunded')`
  // What a change charged pays for the period that it went on with.
  const paidUntil = row?.paid_until ?? usagePeriodAt(cycle, startDate, startDate).end
  return accessUntil(purchase, now) > paidUntil ? paidUntil : undefined
}

function accessUntil(purchase: Purchase, now: Date): Date {
  const { endedAt, endDate, suspendedAt } = purchase
  const suspended = endedSuspended(purchase) ? suspendedAt : null
  const ends = [now, endedAt, endDate, suspended].flatMap((end) => (end === null ? [] : [end]))
  return ends.reduce((first, end) => (end < first ? end : first))
}
