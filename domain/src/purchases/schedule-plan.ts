import { recordEvent, type UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { updateScheduledPlan } from './notes-repository.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import { purchaseObject } from './purchase-event.ts'
import { lockPurchase, type Purchase } from './repository.ts'

/**
 * Notes the plan that the purchase changes to at a renewal, in place of one that was noted before; null: it stays with its
 * plan. Returns the purchase; undefined when it has ended since.
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
  const noted = { ...purchase, scheduledPlan: plan, scheduledPlanAt: at }
  await updateScheduledPlan(sql, providerId, noted)
  await recordEvent(work, 'purchase.updated', purchaseObject(noted))
  return noted
}
