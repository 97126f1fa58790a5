import { lockCustomer } from '../customers/repository.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { listPurchases, lockPurchase, type Purchase } from './repository.ts'

/**
 * Locks the customer of a purchase, and then the purchase. Every change of a plan locks them in this order, which avoids deadlocks.
 * Returns undefined if there is no such purchase.
 */
export async function lockWithCustomer(
  { sql, providerId }: Pick<UnitOfWork, 'sql' | 'providerId'>,
  reference: string,
): Promise<Purchase | undefined> {
  const [named] = await listPurchases(sql, providerId, { reference, rowsMax: 1 })
  if (named === undefined) return undefined
  await lockCustomer(sql, providerId, named.customerRef)
  return lockPurchase(sql, providerId, reference)
}
