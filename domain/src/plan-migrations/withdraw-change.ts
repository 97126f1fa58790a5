import { changesOnlyAddOns, changeWithoutPlan } from '../purchases/carry-add-ons.ts'
import { lockWithCustomer } from '../purchases/lock-with-customer.ts'
import { purchaseObject } from '../purchases/purchase-event.ts'
import type { Purchase } from '../purchases/repository.ts'
import { schedulePlan } from '../purchases/schedule-plan.ts'
import { recordEvent, type UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { findMigration } from './repository.ts'

/**
 * Withdraws the scheduled change of a purchase, which the customer, the provider or a migration has scheduled. Without such a change,
 * the purchase stays as it is. A change of add-ons stays scheduled if it was scheduled beside a change of plan. Returns undefined if
 * there is no such purchase.
 */
export async function withdrawChange(
  work: UnitOfWork,
  purchaseRef: string,
): Promise<Purchase | undefined> {
  const held = await lockWithCustomer(work, purchaseRef)
  if (held === undefined) return undefined
  // An ended purchase has no change to withdraw.
  return (await withdrawOf(work, held)) ?? held
}

/**
 * Withdraws the scheduled change of a purchase that the caller has locked, and tells a customer who was told about it. Returns undefined
 * if the purchase has ended.
 */
export async function withdrawOf(work: UnitOfWork, held: Purchase): Promise<Purchase | undefined> {
  const kept = await schedulePlan(work, held.reference, changeWithoutPlan(held))
  if (kept === undefined || !(await isAnnounced(work, held))) return kept
  const previous = { plan: held.scheduledPlan?.reference ?? null }
  await recordEvent(work, 'purchase.plan_change_withdrawn', purchaseObject(kept), previous)
  return kept
}

/** Returns whether the customer was told about the scheduled change. A migration tells nobody unless it has a notice. */
async function isAnnounced({ sql, providerId }: UnitOfWork, held: Purchase): Promise<boolean> {
  const { scheduledPlan, isScheduledByProvider, scheduledMigration } = held
  if (scheduledPlan === null || isScheduledByProvider !== true) return false
  if (changesOnlyAddOns(held)) return false
  if (scheduledMigration === undefined) return true
  const migration = await findMigration(sql, providerId, scheduledMigration)
  return migration !== undefined && migration.noticeDays !== null
}
