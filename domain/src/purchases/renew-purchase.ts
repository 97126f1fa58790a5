import type { Period } from '../periods/periods.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { nextAfter } from './decide-renewal.ts'
import { movePurchase } from './move-purchase.ts'
import type { Purchase } from './repository.ts'

/** Begins the period, after all that was due in advance is paid. The caller has locked the row. */
export function renewPurchase(
  work: UnitOfWork,
  purchase: Purchase,
  period: Period,
): Promise<Purchase> {
  return movePurchase(work, purchase, 'renewed', nextAfter(purchase, period.end))
}
