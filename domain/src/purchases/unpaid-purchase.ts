import type { Queryable } from '@tollgate/platform/database/database'
import { pricesIn } from '../pricing/plan-prices.ts'
import { listPurchases, type Purchase } from './repository.ts'
import { decideUnpaidSince, isPaidInAdvance } from './decide-unpaid-since.ts'

/** Maximum number of earlier purchases of the product that are read, newest first. */
const purchasesReadMax = 50

/**
 * Returns the newest purchase of the product that gave access without being paid for: `previous` or an earlier one. Undefined if
 * there is none, or if a later purchase was paid at the same price or a higher one. A free or cheaper plan in between pays for
 * nothing.
 */
export async function findUnpaidPurchase(
  sql: Queryable,
  providerId: string,
  previous: Purchase,
  now: Date,
): Promise<Purchase | undefined> {
  let paidMinor = 0n
  let isAllPaid = false
  const findIn = async (purchases: readonly Purchase[]): Promise<Purchase | undefined> => {
    for (const each of purchases) {
      const priceMinor = priceOf(each)
      if (priceMinor > paidMinor && (await findUnpaidSince(sql, providerId, each, now))) return each
      if (each.paidAt === null || priceMinor === 0n) continue
      // The purchase was paid and had an allowance of its own, so no earlier purchase was left unpaid.
      isAllPaid = each.allowance === null || each.currency !== previous.currency
      if (isAllPaid) return undefined
      if (priceMinor > paidMinor) paidMinor = priceMinor
    }
    return undefined
  }
  const unpaid = await findIn([previous])
  if (unpaid !== undefined || isAllPaid) return unpaid
  return findIn(await listEarlier(sql, providerId, previous))
}

function priceOf({ planSnapshot, currency }: Purchase): bigint {
  return (planSnapshot === null ? undefined : pricesIn(planSnapshot, currency)?.priceMinor) ?? 0n
}

async function listEarlier(
  sql: Queryable,
  providerId: string,
  { reference, customerRef, productRef, createdAt }: Purchase,
): Promise<readonly Purchase[]> {
  if (productRef === null) return []
  const of = { customerRef, productRef, isOfPlan: true, rowsMax: purchasesReadMax }
  const purchases = await listPurchases(sql, providerId, of)
  return purchases.filter((each) => each.reference !== reference && each.createdAt <= createdAt)
}

/**
 * Returns the time from which the purchase gave access without payment, because a renewal was not charged yet, or failed and was
 * voided when the purchase ended. Undefined if all of it was paid, or nothing is due in advance.
 */
async function findUnpaidSince(
  sql: Queryable,
  providerId: string,
  purchase: Purchase,
  now: Date,
): Promise<Date | undefined> {
  if (!isPaidInAdvance(purchase)) return undefined
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
