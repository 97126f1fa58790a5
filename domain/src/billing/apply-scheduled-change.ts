import { listPeriodDiscounts } from '../coupons/discounts-repository.ts'
import { findCustomer } from '../customers/repository.ts'
import { listDebts } from '../invoices/debts.ts'
import type { InvoiceWithLines } from '../invoices/invoice.ts'
import type { Seller } from '../invoices/parties.ts'
import { closeScheduledChange } from '../plan-migrations/close-scheduled-change.ts'
import { joinMigration } from '../plan-migrations/join-migration.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import { createPurchase } from '../purchases/create-purchase.ts'
import { decideDueChange, type DueChange } from '../purchases/decide-scheduled-change.ts'
import type { PlanSwitch } from '../purchases/decide-switch.ts'
import { linkToPredecessor } from '../purchases/link-to-predecessor.ts'
import { endNow } from '../purchases/move-purchase.ts'
import { newSwitchedPurchase, newUnpaidPurchase } from '../purchases/new-purchase.ts'
import type { Purchase } from '../purchases/repository.ts'
import { schedulePlan } from '../purchases/schedule-plan.ts'
import type { ReadingAt, UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { emitPlanChanged, readSwitchPrice } from './activate-plan.ts'
import { billSwitch, storeSwitchDiscounts } from './bill-switch.ts'
import { continueTrial } from './continue-trial.ts'

/** Decides whether the scheduled change of the purchase is due. Reads the debts and discounts that the decision depends on. */
export async function readDueChange(
  { sql, providerId, now }: ReadingAt,
  purchase: Purchase,
): Promise<DueChange> {
  const hasDebts = (await listDebts(sql, providerId, purchase)).length > 0
  const discounts = await listPeriodDiscounts(sql, providerId, purchase.reference)
  return decideDueChange(purchase, hasDebts, now, discounts)
}

export type AppliedChange = {
  readonly purchase: Purchase
  /** The invoice of the change, undefined if it costs nothing. */
  readonly invoice: InvoiceWithLines | undefined
}

/**
 * Changes the purchase to its scheduled plan, within the running period. The purchase ends, the new one begins, the difference is
 * invoiced and the migration that scheduled the change records it, all in one transaction: after a crash before its commit the change
 * is still due. The caller has locked first the customer and then the purchase, and charges the invoice afterwards.
 */
export async function applyScheduledChange(
  work: UnitOfWork,
  held: Purchase,
  { plan, change }: Extract<DueChange, { kind: 'change' }>,
  seller: Seller,
): Promise<AppliedChange> {
  if (held.status === 'trialing') {
    return { purchase: await continueTrial(work, held, plan), invoice: undefined }
  }
  const replaced = await endNow(work, held, 'expired', { endedAt: work.now })
  const started = await startedPurchase(work, held, plan, change)
  const purchase = await linkToPredecessor(work, started, { previous: held, replaced }, false)
  await createPurchase(work, purchase)
  await closeScheduledChange(work, held, purchase)
  await emitPlanChanged(work, purchase, replaced)
  await joinMigration(work, purchase, held.scheduledTermsAt)
  if (change === undefined) return { purchase, invoice: undefined }
  await storeSwitchDiscounts(work, purchase, change)
  return { purchase, invoice: await billSwitch(work, purchase, change, seller) }
}

/** Returns the purchase that begins with the change, before it is linked to the one before. */
export async function startedPurchase(
  at: ReadingAt,
  held: Purchase,
  plan: PlanSnapshot,
  change: PlanSwitch | undefined,
): Promise<Purchase> {
  const { productRef, productName, cycleMode } = held
  const customer = await findCustomer(at.sql, at.providerId, held.customerRef)
  if (customer === undefined) throw new Error(`there is no customer ${held.customerRef}`)
  const sale = {
    ...{ customer, plan, now: at.now },
    product: { reference: productRef, name: productName },
  }
  if (change === undefined) return newUnpaidPurchase({ ...sale, cycleMode, origin: 'manual' })
  return newSwitchedPurchase(sale, change, await readSwitchPrice(at, change))
}

/** Schedules the change for `at`, the renewal, because the difference cannot be prorated. The caller has locked the purchase. */
export async function postponeToRenewal(
  work: UnitOfWork,
  {
    reference,
    scheduledPlan: plan,
    scheduledMigration: migration,
    isScheduledByProvider,
    scheduledTermsAt: termsAt,
  }: Purchase,
  at: Date,
): Promise<void> {
  if (plan === null) return
  const isByProvider = isScheduledByProvider
  await schedulePlan(work, reference, { plan, at, termsAt, migration, isByProvider })
}
