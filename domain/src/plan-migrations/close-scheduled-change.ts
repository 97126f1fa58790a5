import { updateScheduledPlan } from '../purchases/purchase-fields-repository.ts'
import type { Purchase } from '../purchases/purchase.ts'
import { scheduledPurchase } from '../purchases/schedule-plan.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { recordMove } from './items-repository.ts'

/**
 * Records that the scheduled change of a purchase took effect, with its migration. The purchase forgets the change: if a refund undoes
 * it and restores the purchase, the change is not made again.
 */
export async function closeScheduledChange(
  work: UnitOfWork,
  from: Purchase,
  to: Pick<Purchase, 'reference'>,
): Promise<void> {
  await updateScheduledPlan(work.sql, work.providerId, scheduledPurchase(from, null))
  await recordMove(work, from, to)
}
