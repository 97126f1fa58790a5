import { findPlan } from '../catalog/plans-repository.ts'
import { snapshotOf } from '../plans/plan-snapshot.ts'
import { hasTerms } from '../purchases/has-terms.ts'
import { updateTermsAt } from '../purchases/purchase-fields-repository.ts'
import { lockPurchase, type Purchase } from '../purchases/repository.ts'
import { hasTestClocks, listClockTimes } from '../test-clocks/customer-time.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import type { PlanMigration } from './plan-migration.ts'
import { moveHolder } from './process-holder.ts'
import { holdNewestMigration } from './repository.ts'

/**
 * Lets a purchase that begins with older terms join the newest migration of its plan: a payment was created, or a change was scheduled,
 * before the migration, which listed its purchases without this one. `termsAt`: when the terms were those of the plan; undefined if
 * that is not known. The caller has locked the customer and created the purchase in this transaction, so both commit together.
 *
 * A migration that is paused schedules nothing. It finds the purchase when it is resumed.
 */
export async function joinMigration(
  work: UnitOfWork,
  { reference, planRef }: Pick<Purchase, 'reference' | 'planRef'>,
  termsAt: Date | undefined,
): Promise<void> {
  const { sql, providerId } = work
  if (planRef === null || termsAt === undefined) return
  const migration = await holdNewestMigration(sql, providerId, planRef)
  if (migration === undefined) return
  const purchase = await lockPurchase(sql, providerId, reference)
  if (purchase === undefined || !isOfMigration(migration, purchase)) return
  if (!(await hasOlderTerms(work, migration, purchase, termsAt))) return
  if (migration.status === 'paused') await updateTermsAt(sql, providerId, { reference, termsAt })
  else await moveHolder(work, migration, purchase)
}

function isOfMigration({ purchaseRefs, customerRefs }: PlanMigration, held: Purchase): boolean {
  return purchaseRefs === null && (customerRefs === null || customerRefs.includes(held.customerRef))
}

/**
 * Returns whether the terms are from before the migration. The times of a customer on a test clock cannot be compared with it, so its
 * terms count as older unless they are the current ones of the plan.
 */
async function hasOlderTerms(
  { sql, providerId, environment }: UnitOfWork,
  { createdAt, productRef, planRef }: PlanMigration,
  held: Purchase,
  termsAt: Date,
): Promise<boolean> {
  const { customerRef, planSnapshot } = held
  const isOnClock =
    hasTestClocks(environment) &&
    (await listClockTimes(sql, environment, [{ providerId, customerRef }])).size > 0
  if (!isOnClock) return termsAt <= createdAt
  const plan = await findPlan(sql, providerId, productRef, planRef)
  if (plan === undefined || planSnapshot === null) return false
  return !hasTerms(planSnapshot, snapshotOf(plan))
}
