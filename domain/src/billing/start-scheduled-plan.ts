import { findCustomer } from '../customers/repository.ts'
import { dollarsPerUnit } from '../money/dollar-amount.ts'
import { findExchangeRate } from '../money/exchange-rates.ts'
import type { Period } from '../periods/periods.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { emitPlanChanged } from './activate-plan.ts'
import { closeScheduledChange } from '../plan-migrations/close-scheduled-change.ts'
import { joinMigration } from '../plan-migrations/join-migration.ts'
import { changesOnlyAddOns, termsTimeOf } from '../purchases/carry-add-ons.ts'
import { createPurchase } from '../purchases/create-purchase.ts'
import { endNow } from '../purchases/move-purchase.ts'
import { newScheduledPurchase, switchPrice } from '../purchases/new-purchase.ts'
import { planAfterChange } from '../purchases/offered-plan.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import type { Purchase } from '../purchases/repository.ts'
import { isEnding } from '../purchases/transitions.ts'

/**
 * Starts the plan that was scheduled for the purchase, with the period that begins now. If the plan costs something,
 * its renewal is due at once and the same job charges it. Everything commits together, so after a crash the purchase is
 * either still due or replaced. The caller has locked first the customer and then the purchase.
 */
export async function startScheduledPlan(
  work: UnitOfWork,
  purchase: Purchase,
  chosen: PlanSnapshot,
  period: Period,
): Promise<Purchase> {
  const { sql, providerId, now } = work
  const { customerRef, productRef, productName, currency } = purchase
  const customer = await findCustomer(sql, providerId, customerRef)
  if (customer === undefined) throw new Error(`there is no customer ${customerRef}`)
  const rate = await findExchangeRate(sql, providerId, currency)
  if (rate === undefined) throw new Error(`there is no exchange rate for ${currency}`)
  const plan = planAfterChange(chosen, purchase, period.start)
  const replaced = await endNow(work, purchase, 'expired', { endedAt: period.start })
  const sale = { customer, product: { reference: productRef, name: productName }, plan, now }
  const price = switchPrice(plan, currency, dollarsPerUnit(rate))
  const started = newScheduledPurchase(sale, purchase, period, price)
  await createPurchase(work, started)
  // A purchase that was cancelled too late changes its add-ons alone, so a migration that had scheduled a change has not moved it.
  const made = isEnding(purchase) ? { ...purchase, scheduledMigration: undefined } : purchase
  const keepsPlan = isEnding(purchase) || changesOnlyAddOns(purchase)
  const termsAt = keepsPlan ? termsTimeOf(purchase) : purchase.scheduledTermsAt
  await closeScheduledChange(work, made, started)
  await emitPlanChanged(work, started, replaced)
  await joinMigration(work, started, termsAt)
  return started
}
