import { findCustomer } from '../customers/repository.ts'
import { closeScheduledChange } from '../plan-migrations/close-scheduled-change.ts'
import { joinMigration } from '../plan-migrations/join-migration.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import { continuedTrial } from '../purchases/continued-trial.ts'
import { createPurchase } from '../purchases/create-purchase.ts'
import { endNow } from '../purchases/move-purchase.ts'
import type { Purchase } from '../purchases/repository.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { emitPlanChanged } from './activate-plan.ts'

/**
 * Continues a trial with the terms that were scheduled for it. Nothing is charged: the trial ends when it would have ended, and the job
 * for ended trials then charges or suspends the new purchase. The old purchase ends, the new one begins and the migration records it in
 * one transaction, so after a crash the trial has either the old terms or the new ones. The caller has locked first the customer and
 * then the purchase.
 */
export async function continueTrial(
  work: UnitOfWork,
  held: Purchase,
  plan: PlanSnapshot,
): Promise<Purchase> {
  const { sql, providerId, now } = work
  const customer = await findCustomer(sql, providerId, held.customerRef)
  if (customer === undefined) throw new Error(`there is no customer ${held.customerRef}`)
  const purchase = await continuedTrial(work, held, plan, customer)
  const endedAt = now < held.anchor ? now : held.anchor
  const replaced = await endNow(work, held, 'expired', { endedAt })
  await createPurchase(work, purchase)
  await closeScheduledChange(work, held, purchase)
  await emitPlanChanged(work, purchase, replaced)
  await joinMigration(work, purchase, held.scheduledTermsAt)
  return purchase
}
