import type { Queryable } from '@tollgate/platform/database/database'
import { decideUnpaidSince, isPaidBeforehand } from './decide-unpaid-since.ts'
import type { Purchase } from './repository.ts'

/**
 * Returns the time from which the purchase gave access without payment, because a renewal was not charged yet, or failed and was
 * voided when the purchase ended. Undefined if all of it was paid, or nothing is due in advance.
 */
export async function findUnpaidSince(
  sql: Queryable,
  providerId: string,
  purchase: Purchase,
  now: Date,
): Promise<Date | undefined> {
  if (!isPaidBeforehand(purchase)) return undefined
  return decideUnpaidSince(purchase, await findPaidUntil(sql, providerId, purchase.reference), now)
}

/** Returns the end of the last period whose invoice was paid; null if no invoice charged a period. */
async function findPaidUntil(
  sql: Queryable,
  providerId: string,
  purchaseRef: string,
): Promise<Date | null> {
  const [row] = await sql<[{ paid_until: Date | null }]>`
    select max(period_end) as paid_until from billed_periods as billed
    join invoices on invoices.provider_id = billed.provider_id
      and invoices.reference = billed.invoice_ref
    where billed.provider_id = ${providerId} and billed.purchase_ref = ${purchaseRef}
      and billed.part = 'recurring' and invoices.status in ('paid', 'partly_refunded', 'refunded')`
  return row.paid_until
}
