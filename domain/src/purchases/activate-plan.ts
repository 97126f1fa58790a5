import { lockCustomer, type Customer } from '../customers/repository.ts'
import { periodAt, type CycleMode } from '../periods/periods.ts'
import type { Plan } from '../plans/plan.ts'
import { findPlan } from '../plans/repository.ts'
import { holdProduct, type Product } from '../products/repository.ts'
import { recordEvent, type UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { cycleOf, isOpen } from './access.ts'
import { createPurchase } from './create-purchase.ts'
import { decideActivation } from './decide-activation.ts'
import { endNow, movePurchase } from './move-purchase.ts'
import { unpaidPurchase } from './new-purchase.ts'
import { planChangedObject } from './purchase-event.ts'
import { findDecidingPurchase, listPurchases, lockPurchase, type Purchase } from './repository.ts'
import { settleLapsed } from './settle-lapsed.ts'

export type ActivateRequest = {
  readonly customer: Customer
  readonly productRef: string
  readonly planRef: string
  readonly cycleMode: CycleMode
}

export type ActivateOutcome =
  | { readonly kind: 'activated'; readonly purchase: Purchase; readonly plan: Plan }
  | { readonly kind: 'already-active'; readonly purchase: Purchase }
  | { readonly kind: 'payment-required'; readonly product: Product; readonly plan: Plan }
  | { readonly kind: 'invalid'; readonly reason: string }

/**
 * Gives the customer the plan, in place of another one of the product. The customer's row is locked, so of calls that
 * arrive together the first one activates and the others find its purchase.
 */
export async function activatePlan(
  work: UnitOfWork,
  request: ActivateRequest,
): Promise<ActivateOutcome> {
  const { sql, providerId, now } = work
  const { customer, productRef, planRef, cycleMode } = request
  const product = await holdProduct(sql, providerId, productRef)
  if (product === undefined) return { kind: 'invalid', reason: 'There is no such product' }
  await lockCustomer(sql, providerId, customer.reference)
  const plan = await findPlan(sql, providerId, productRef, planRef)
  const last = await findDecidingPurchase(sql, providerId, customer.reference, productRef)
  const lastOfPlan = await findLastOfPlan(work, customer.reference, productRef, planRef)
  const decision = decideActivation({ product, plan, last, lastOfPlan, now })
  switch (decision.kind) {
    case 'invalid':
    case 'already-active':
      return decision
    case 'payment-required':
      return { ...decision, product }
    case 'activate': {
      await endPrevious(work, last)
      const origin = decision.plan.type === 'one-time' ? 'one_time' : 'manual'
      const given = { customer, product, plan: decision.plan, cycleMode, origin, now } as const
      const purchase = unpaidPurchase(given)
      await createPurchase(work, purchase)
      await tellOfPlanChange(work, purchase, decision.replaced)
      return { kind: 'activated', purchase, plan: decision.plan }
    }
    case 'resume': {
      await endPrevious(work, last)
      const purchase = await resume(work, decision.purchase.reference)
      await tellOfPlanChange(work, purchase, decision.replaced)
      return { kind: 'activated', purchase, plan: decision.plan }
    }
  }
}

async function findLastOfPlan(
  work: UnitOfWork,
  customerRef: string,
  productRef: string,
  planRef: string,
): Promise<Purchase | undefined> {
  const filter = { customerRef, productRef, planRef, rowsMax: 1 }
  const [purchase] = await listPurchases(work.sql, work.providerId, filter)
  return purchase
}

/** A customer has one open purchase of a product. */
async function endPrevious(work: UnitOfWork, last: Purchase | undefined): Promise<void> {
  if (last === undefined || (await settleLapsed(work, last.reference)) !== undefined) return
  const previous = await lockPurchase(work.sql, work.providerId, last.reference)
  if (previous !== undefined && isOpen(previous)) await endNow(work, previous, 'expired')
}

async function resume(work: UnitOfWork, reference: string): Promise<Purchase> {
  const purchase = await lockPurchase(work.sql, work.providerId, reference)
  if (purchase === undefined) throw new Error(`purchase ${reference} is gone`)
  const cycle = cycleOf(purchase)
  return movePurchase(work, purchase, 'resumed', {
    autoRenew: purchase.isRecurring,
    endDate: null,
    nextBillingDate: cycle === undefined ? null : periodAt(cycle, work.now).end,
    cancelledAt: null,
    cancellationReason: null,
    endedAt: null,
  })
}

async function tellOfPlanChange(
  work: UnitOfWork,
  purchase: Purchase,
  replaced: Purchase | undefined,
): Promise<void> {
  if (replaced === undefined) return
  const previous = { plan: replaced.planRef }
  await recordEvent(work, 'purchase.plan_changed', planChangedObject(purchase), previous)
}
