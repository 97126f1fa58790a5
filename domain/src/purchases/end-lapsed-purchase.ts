import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { decideLapse } from './decide-end-of-previous.ts'
import { endNow } from './move-purchase.ts'
import { lockPurchase, type Purchase } from './repository.ts'

/** Ends a purchase whose end date has passed. Returns undefined if the purchase is not lapsed. */
export async function endLapsedPurchase(
  work: UnitOfWork,
  reference: string,
): Promise<Purchase | undefined> {
  const purchase = await lockPurchase(work.sql, work.providerId, reference)
  const lapse = purchase && decideLapse(purchase, work.now)
  if (purchase === undefined || lapse === undefined) return undefined
  return endNow(work, purchase, lapse.trigger, { endedAt: lapse.endedAt })
}
