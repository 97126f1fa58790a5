import { queuePublication, recordEvent, type UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { purchaseObject } from './purchase-event.ts'
import { insertPurchase, type Purchase } from './repository.ts'

/** Keeps a new purchase, tells of it, and has its access published. */
export async function createPurchase(work: UnitOfWork, purchase: Purchase): Promise<void> {
  await insertPurchase(work.sql, work.providerId, purchase)
  await recordEvent(work, 'purchase.created', purchaseObject(purchase))
  await queuePublication(work, 'customer', purchase.customerRef)
}
