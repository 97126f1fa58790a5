import type { Queryable } from '@tollgate/platform/database/database'
import { pricesIn } from '../pricing/plan-prices.ts'
import { listPurchases, type Purchase } from './repository.ts'
import { findUnpaidSince } from './unpaid-since.ts'

/** Purchases of the product that are looked back over, newest first. */
const purchasesReadMax = 50

/**
 * Returns the newest purchase of the product that gave access without being paid for it: `previous` or one before it.
 * Undefined without one, and once a price as high was paid for a purchase after it. A free or cheaper plan in between
 * pays for nothing.
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
      // It was paid with an allowance of its own, so nothing before it was left unpaid.
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
  const of = { customerRef, productRef, rowsMax: purchasesReadMax }
  const purchases = await listPurchases(sql, providerId, of)
  return purchases.filter(
    (each) => each.reference !== reference && each.planRef !== null && each.createdAt <= createdAt,
  )
}
