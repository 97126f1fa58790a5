import { lockCustomer } from '../customers/repository.ts'
import { planChangeScheduledObject } from '../purchases/purchase-event.ts'
import { lockPurchase, type Purchase } from '../purchases/repository.ts'
import { updateScheduledPlan } from '../purchases/purchase-fields-repository.ts'
import { schedulePlan, scheduledPurchase } from '../purchases/schedule-plan.ts'
import { customerTime } from '../test-clocks/customer-time.ts'
import { recordEvent, type UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { decideMove } from './decide-migration.ts'
import { insertItem, withdrawItem } from './items-repository.ts'
import type { PlanMigration } from './plan-migration.ts'
import { holdMigration, type Holder } from './repository.ts'
import { withdrawOf } from './withdraw-change.ts'

/**
 * Schedules the change of one purchase of a running migration, or records why it is skipped. The record, the change and the notice
 * commit together, and the record is unique, so a purchase that is processed again after a crash is left alone.
 *
 * The customer is locked first, so a change that the customer makes at the same time comes before or after: the migration sees it and
 * skips the purchase, or the customer's change replaces what the migration scheduled. Returns false if the migration does not run.
 */
export async function processHolder(
  given: UnitOfWork,
  migrationRef: string,
  holder: Holder,
): Promise<boolean> {
  const { sql, providerId } = given
  const work = await atCustomerTime(given, holder)
  const migration = await holdMigration(sql, providerId, migrationRef)
  if (migration?.status !== 'running') return false
  // The purchases of a deleted customer have ended.
  if (work === undefined) return true
  const held = await lockPurchase(sql, providerId, holder.purchaseRef)
  if (held !== undefined) await moveHolder(work, migration, held)
  return true
}

/** Schedules the change of a purchase that the caller has locked, or records why it is skipped. */
export async function moveHolder(
  work: UnitOfWork,
  migration: PlanMigration,
  held: Purchase,
): Promise<void> {
  const { sql, providerId } = work
  const { reference: migrationRef, createdAt } = migration
  const holder = { purchaseRef: held.reference, customerRef: held.customerRef }
  const decision = decideMove(migration, held, createdAt, work.now)
  if (decision.kind === 'refused') {
    // The migration does not have to move a purchase with these terms. It may have moved it already.
    if (decision.obstacle === 'unchanged') return
    const skipped = { ...holder, reason: decision.obstacle, effectiveAt: null }
    await insertItem(sql, providerId, migrationRef, skipped)
    return
  }
  const { change } = decision
  const item = { ...holder, reason: null, effectiveAt: change.at }
  if (!(await insertItem(sql, providerId, migrationRef, item))) return
  await schedulePlan(work, held.reference, { ...change, migration: migrationRef })
  if (migration.noticeDays === null) return
  const previous = { plan: held.planRef }
  const object = planChangeScheduledObject(held, change)
  await recordEvent(work, 'purchase.plan_change_scheduled', object, previous)
}

/** Records that the processing of a purchase fails. A later migration can move it. */
export async function skipFailed(
  { sql, providerId }: UnitOfWork,
  migrationRef: string,
  holder: Holder,
): Promise<void> {
  const migration = await holdMigration(sql, providerId, migrationRef)
  if (migration?.status !== 'running') return
  const failed = { ...holder, reason: 'failed' as const, effectiveAt: null }
  await insertItem(sql, providerId, migrationRef, failed)
}

/**
 * Withdraws the change that a cancelled migration scheduled for a purchase, unless it has taken effect or was replaced. A purchase that
 * has ended forgets the change too: a refund may restore it.
 */
export async function withdrawHolder(
  given: UnitOfWork,
  migrationRef: string,
  holder: Holder,
): Promise<void> {
  const { sql, providerId } = given
  const work = (await atCustomerTime(given, holder)) ?? given
  const held = await lockPurchase(sql, providerId, holder.purchaseRef)
  if (held?.scheduledMigration === migrationRef) {
    if (held.endedAt === null) await withdrawOf(work, held)
    else await updateScheduledPlan(sql, providerId, scheduledPurchase(held, null))
  }
  await withdrawItem(sql, providerId, migrationRef, holder.purchaseRef)
}

/** Locks the customer, and returns the unit of work at the time of the customer. Undefined if the customer is gone. */
async function atCustomerTime(
  work: UnitOfWork,
  { customerRef }: Holder,
): Promise<UnitOfWork | undefined> {
  const { sql, providerId, environment } = work
  if ((await lockCustomer(sql, providerId, customerRef)) === undefined) return undefined
  const now = await customerTime(sql, environment, { providerId, customerRef }, work.now)
  return { ...work, now }
}
