import { recordEvent, type UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { updateScheduledPlan } from './purchase-fields-repository.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import { purchaseObject } from './purchase-event.ts'
import { lockPurchase, type Purchase } from './repository.ts'

/**
 * Stores the plan to which the purchase changes at a renewal, and replaces an earlier choice. With null the purchase keeps its
 * plan. Returns the purchase, or undefined if it has ended.
 */
export async function schedulePlan(
  work: UnitOfWork,
  reference: string,
  change: { readonly plan: PlanSnapshot; readonly at: Date } | null,
): Promise<Purchase | undefined> {
  const { sql, providerId } = work
  const purchase = await lockPurchase(sql, providerId, reference)
  if (purchase === undefined || purchase.endedAt !== null) return undefined
  if (purchase.scheduledPlan === null && change === null) return purchase
  const { plan = null, at = null } = change ?? {}
  const changed = { ...purchase, scheduledPlan: plan, scheduledPlanAt: at }
  await updateScheduledPlan(sql, providerId, changed)
  await recordEvent(work, 'purchase.updated', purchaseObject(changed))
  return changed
}
