import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { isLapsed } from './access.ts'
import { endNow } from './move-purchase.ts'
import { lockPurchase, type Purchase } from './repository.ts'
import { isEnding } from './transitions.ts'

/** Ends a purchase whose end date has passed. Returns undefined if the purchase is not lapsed. */
export async function endLapsedPurchase(
  work: UnitOfWork,
  reference: string,
): Promise<Purchase | undefined> {
  const purchase = await lockPurchase(work.sql, work.providerId, reference)
  if (purchase === undefined || !isLapsed(purchase, work.now)) return undefined
  const trigger = isEnding(purchase) ? 'cancelled' : 'expired'
  return endNow(work, purchase, trigger, { endedAt: purchase.endDate })
}
