import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '@tollgate/platform/database/database'
import { newReference } from '@tollgate/schemas/references'
import { areCustomersWaiting, copyCustomer } from '../../load/copy-customer.ts'

const pollMs = 200

/** Creates and publishes copies of a customer and its purchase, with the same due date. Returns the references of the copies. */
export async function makeDuePurchases(
  pool: Database['control'],
  originalRef: string,
  prefix: string,
  count: number,
): Promise<string[]> {
  const copies = Array.from({ length: count }, (_, number) => ({
    customerRef: newReference('customer', randomBytes),
    externalRef: `${prefix}_${number}`,
    purchaseRef: newReference('purchase', randomBytes),
  }))
  await copyCustomer(pool, originalRef, copies)
  while (await areCustomersWaiting(pool)) await sleep(pollMs)
  await pool`analyze`
  return copies.map(({ customerRef }) => customerRef)
}
