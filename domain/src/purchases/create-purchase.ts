import { queuePublication, recordEvent, type UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { purchaseObject } from './purchase-event.ts'
import { insertPurchase, type Purchase } from './repository.ts'

/** Inserts a new purchase, emits its event and queues the publication of its access. */
export async function createPurchase(work: UnitOfWork, purchase: Purchase): Promise<void> {
  await insertPurchase(work.sql, work.providerId, purchase)
  await recordEvent(work, 'purchase.created', purchaseObject(purchase))
  await queuePublication(work, 'customer', purchase.customerRef)
}
