import { moveDiscounts } from '../coupons/discounts-repository.ts'
import { setPacksDue } from '../packs/repository.ts'
import { queuePublication, recordEvent, type UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { purchaseObject } from './purchase-event.ts'
import { insertPurchase, type Purchase } from './repository.ts'

/** Inserts a new purchase with the discounts of the one that it replaces, emits its event and queues the publication of its access. */
export async function createPurchase(work: UnitOfWork, purchase: Purchase): Promise<void> {
  await insertPurchase(work.sql, work.providerId, purchase)
  if (purchase.replaces !== null) {
    await moveDiscounts(work.sql, work.providerId, [purchase.replaces], purchase.reference)
  }
  await recordEvent(work, 'purchase.created', purchaseObject(purchase))
  // Packs pay for usage of the next period once that of the purchase before is settled.
  if (!purchase.isPack) await setPacksDue(work.sql, work.providerId, purchase, work.now)
  await queuePublication(work, 'customer', purchase.customerRef)
}
