import { lockCustomer } from '../customers/repository.ts'
import { planChangeScheduledObject } from '../purchases/purchase-event.ts'
import { lockPurchase } from '../purchases/repository.ts'
import { schedulePlan } from '../purchases/schedule-plan.ts'
import { customerTime } from '../test-clocks/customer-time.ts'
import { recordEvent, type UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { decideMove } from './decide-migration.ts'
import { insertItem, withdrawItem } from './items-repository.ts'
import { holdMigration, type Holder } from './repository.ts'

/**
 * Schedules the change of one purchase of a running migration, or records why it is skipped. The record, the change and the notice
 * commit together, and the record is unique, so a purchase that is processed again after a crash is left alone.
 *
 * The customer is locked first, so a change that the customer makes at the same time comes before or after: the migration sees it and
 * skips the purchase, or the customer's change replaces what the migration scheduled.
 */
export async function processHolder(
  given: UnitOfWork,
  migrationRef: string,
  holder: Holder,
): Promise<void> {
  const { sql, providerId } = given
  const work = await atCustomerTime(given, holder)
  if (work === undefined) return
  const migration = await holdMigration(sql, providerId, migrationRef)
  if (migration?.status !== 'running') return
  const held = await lockPurchase(sql, providerId, holder.purchaseRef)
  if (held === undefined) return
  const decision = decideMove(migration, held, work.now)
  if (decision.kind === 'refused') {
    // A purchase with these terms is none that the migration has to move. It may be one that it has moved already.
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

/** Withdraws the change that a cancelled migration scheduled for a purchase, unless it has taken effect or was replaced. */
export async function withdrawHolder(
  given: UnitOfWork,
  migrationRef: string,
  holder: Holder,
): Promise<void> {
  const { sql, providerId } = given
  const work = await atCustomerTime(given, holder)
  if (work === undefined) return
  const held = await lockPurchase(sql, providerId, holder.purchaseRef)
  if (held?.scheduledMigration === migrationRef) await schedulePlan(work, held.reference, null)
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
