import { lockAddOn, updateAddOn } from '../catalog/add-ons-repository.ts'
import type { AddOn } from '../catalog/add-on.ts'
import { listPeriodDiscounts } from '../coupons/discounts-repository.ts'
import { listDebts } from '../invoices/debts.ts'
import type { InvoiceWithLines } from '../invoices/invoice.ts'
import type { Seller } from '../invoices/parties.ts'
import {
  decideAddOnChange,
  type AddOnChange,
  type AddOnDecision,
  type AddOnObstacle,
} from '../purchases/decide-add-ons.ts'
import { joinMigration } from '../plan-migrations/join-migration.ts'
import { termsTimeOf } from '../purchases/carry-add-ons.ts'
import { lockWithCustomer } from '../purchases/lock-with-customer.ts'
import { purchaseObject } from '../purchases/purchase-event.ts'
import type { Purchase } from '../purchases/purchase.ts'
import { updateTrialTerms } from '../purchases/purchase-fields-repository.ts'
import { schedulePlan, scheduledPurchase } from '../purchases/schedule-plan.ts'
import {
  queuePublication,
  recordEvent,
  type ReadingAt,
  type UnitOfWork,
} from '../unit-of-work/unit-of-work.ts'
import { applyScheduledChange } from './apply-scheduled-change.ts'

export type AddOnRequest = Omit<AddOnChange, 'addOn'> & {
  readonly purchaseRef: string
  readonly addOnRef: string
}

export type ChangedAddOns = {
  /** The purchase afterwards. A change within a period begins a purchase, as a change of plan does. */
  readonly purchase: Purchase
  readonly effectiveAt: Date
  /** The invoice of the change, which is to be charged. Undefined if the change costs nothing now. */
  readonly invoice: InvoiceWithLines | undefined
}

export type ChangeAddOnsOutcome =
  | ({ readonly kind: 'changed' } & ChangedAddOns)
  | { readonly kind: 'purchase-not-found' }
  | { readonly kind: 'add-on-not-found' }
  | { readonly kind: 'refused'; readonly obstacle: AddOnObstacle }

/**
 * Changes the quantity of an add-on of a purchase; 0 removes it. All of it commits together: after a crash either nothing has changed,
 * or the invoice of the change is open and is charged like any other. A repeated request finds the quantity, and changes nothing.
 */
export async function changeAddOns(
  work: UnitOfWork,
  { purchaseRef, addOnRef, quantity, when }: AddOnRequest,
  seller: Seller,
): Promise<ChangeAddOnsOutcome> {
  const { sql, providerId } = work
  const held = await lockWithCustomer(work, purchaseRef)
  if (held === undefined) return { kind: 'purchase-not-found' }
  // The row stays locked until the commit, so that the add-on is not deleted meanwhile.
  const addOn = await lockAddOn(sql, providerId, held.productRef, addOnRef)
  if (addOn === undefined) return { kind: 'add-on-not-found' }
  const decision = await readAddOnDecision(work, held, { addOn, quantity, when })
  if (decision.kind === 'refused') return decision
  if (quantity > 0) await markAttached(work, addOn)
  return { kind: 'changed', ...(await apply(work, held, decision, seller)) }
}

/** Decides about the change. Reads the debts and discounts that the decision depends on. */
export async function readAddOnDecision(
  { sql, providerId, now }: ReadingAt,
  held: Purchase,
  change: AddOnChange,
): Promise<AddOnDecision> {
  const hasDebts = (await listDebts(sql, providerId, held)).length > 0
  const periodDiscounts = await listPeriodDiscounts(sql, providerId, held.reference)
  return decideAddOnChange({ held, hasDebts, periodDiscounts, now }, change)
}

async function apply(
  work: UnitOfWork,
  held: Purchase,
  decision: Exclude<AddOnDecision, { kind: 'refused' }>,
  seller: Seller,
): Promise<ChangedAddOns> {
  switch (decision.kind) {
    case 'unchanged':
      return { purchase: held, effectiveAt: work.now, invoice: undefined }
    case 'in-trial': {
      const { plan: planSnapshot, firstIncludedMicros } = decision
      const purchase = { ...held, planSnapshot, firstIncludedMicros, updatedAt: work.now }
      await updateTrialTerms(work.sql, work.providerId, purchase)
      await recordEvent(work, 'purchase.updated', purchaseObject(purchase))
      await queuePublication(work, 'customer', held.customerRef)
      const scheduled = await schedulePlan(work, held.reference, decision.ahead)
      return { purchase: scheduled ?? purchase, effectiveAt: work.now, invoice: undefined }
    }
    case 'renewal': {
      const purchase = await schedulePlan(work, held.reference, decision.change)
      return { purchase: purchase ?? held, effectiveAt: decision.at, invoice: undefined }
    }
    case 'now':
      return changeNow(work, held, decision, seller)
  }
}

async function changeNow(
  work: UnitOfWork,
  held: Purchase,
  { change, ahead }: Extract<AddOnDecision, { kind: 'now' }>,
  seller: Seller,
): Promise<ChangedAddOns> {
  // What was scheduled for the renewal is decided again, and stored for the purchase that begins.
  const unscheduled = scheduledPurchase(held, null)
  const made = { ...change, from: unscheduled }
  const { purchase, invoice } = await applyScheduledChange(
    work,
    { ...held, scheduledTermsAt: undefined },
    { kind: 'change', plan: change.plan, change: made },
    seller,
  )
  const { end: at } = change.period
  const termsAt = termsTimeOf(held)
  const later = ahead && { plan: ahead, at, termsAt, isByProvider: true }
  const scheduled = later && (await schedulePlan(work, purchase.reference, later))
  // A migration that has listed the purchase before this change finds it ended. This comes last, because it keeps scheduled add-ons.
  await joinMigration(work, purchase, termsAt)
  return { purchase: scheduled ?? purchase, effectiveAt: work.now, invoice }
}

async function markAttached({ sql, providerId, now }: UnitOfWork, addOn: AddOn): Promise<void> {
  if (addOn.firstAttachedAt !== null) return
  await updateAddOn(sql, providerId, { ...addOn, firstAttachedAt: now })
}
