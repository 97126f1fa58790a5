import { recordEvent, type UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { changeWithoutPlan } from './carry-add-ons.ts'
import { updateScheduledPlan } from './purchase-fields-repository.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import { purchaseObject } from './purchase-event.ts'
import type { ChangeToSchedule } from './purchase.ts'
import { lockPurchase, type Purchase } from './repository.ts'

/**
 * Stores the plan to which the purchase changes later, and replaces an earlier choice. With null the purchase keeps its plan.
 * Returns the purchase, or undefined if it has ended.
 */
export async function schedulePlan(
  work: UnitOfWork,
  reference: string,
  change: ChangeToSchedule | null,
): Promise<Purchase | undefined> {
  const { sql, providerId } = work
  const purchase = await lockPurchase(sql, providerId, reference)
  if (purchase === undefined || purchase.endedAt !== null) return undefined
  if (purchase.scheduledPlan === null && change === null) return purchase
  const changed = scheduledPurchase(purchase, change)
  await updateScheduledPlan(sql, providerId, changed)
  await recordEvent(work, 'purchase.updated', purchaseObject(changed))
  return changed
}

/** Returns the purchase with the change in place of an earlier one, or without a change. */
export function scheduledPurchase(purchase: Purchase, change: ChangeToSchedule | null): Purchase {
  return {
    ...purchase,
    scheduledPlan: change?.plan ?? null,
    scheduledPlanAt: change?.at ?? null,
    scheduledBilling: change?.billing,
    scheduledMigration: change?.migration,
    isScheduledByProvider: change?.isByProvider,
    scheduledTermsAt: change?.termsAt,
  }
}

/**
 * Returns the scheduled plan that the customer may withdraw. Null if no change is scheduled, or if the provider scheduled it. Choosing
 * the current plan withdraws it: programs activate the plan that a customer has with each sign-in, and withdraw no other change.
 */
export function withdrawablePlan({
  scheduledPlan,
  isScheduledByProvider,
}: Pick<Purchase, 'scheduledPlan' | 'isScheduledByProvider'>): PlanSnapshot | null {
  return isScheduledByProvider === true ? null : scheduledPlan
}

/**
 * Withdraws the change of plan that the customer chose, and keeps a change of add-ons; a repeated request changes nothing. Returns
 * undefined if the provider scheduled the change, or if the purchase has ended.
 */
export async function withdrawChoice(
  work: UnitOfWork,
  reference: string,
): Promise<Purchase | undefined> {
  const purchase = await lockPurchase(work.sql, work.providerId, reference)
  if (purchase === undefined || purchase.isScheduledByProvider === true) return undefined
  return schedulePlan(work, reference, changeWithoutPlan(purchase))
}
