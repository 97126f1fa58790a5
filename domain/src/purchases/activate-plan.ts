import type { Seller } from '../charging/bill-recurring.ts'
import { billSwitch } from '../charging/bill-switch.ts'
import { lockCustomer, type Customer } from '../customers/repository.ts'
import { dollarsPerUnit } from '../money/dollar-amount.ts'
import { findExchangeRate } from '../money/exchange-rates.ts'
import type { CycleMode } from '../periods/periods.ts'
import type { Plan } from '../plans/plan.ts'
import { findPlan } from '../plans/repository.ts'
import { holdProduct, type Product } from '../products/repository.ts'
import { recordEvent, type UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { isOpen } from './access.ts'
import { createPurchase } from './create-purchase.ts'
import { decideActivation } from './decide-activation.ts'
import { endNow } from './move-purchase.ts'
import type { PlanSwitch } from './decide-switch.ts'
import {
  switchedPurchase,
  switchPrice,
  unpaidPurchase,
  type PurchasePrice,
} from './new-purchase.ts'
import { planChangedObject } from './purchase-event.ts'
import { findDecidingPurchase, findLastOfPlan, lockPurchase, type Purchase } from './repository.ts'
import { settleLapsed } from './settle-lapsed.ts'

export type ActivateRequest = {
  readonly customer: Customer
  readonly productRef: string
  readonly planRef: string
  readonly cycleMode: CycleMode
}

/** `seller`: of the invoice that a change of plan may have. */
export type SoldRequest = ActivateRequest & { readonly seller: Seller }

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
  request: SoldRequest,
): Promise<ActivateOutcome> {
  const { sql, providerId, now } = work
  const { customer, productRef, planRef, cycleMode } = request
  const product = await holdProduct(sql, providerId, productRef)
  if (product === undefined) return { kind: 'invalid', reason: 'There is no such product' }
  if ((await lockCustomer(sql, providerId, customer.reference)) === undefined) {
    return { kind: 'invalid', reason: 'There is no such customer' }
  }
  const plan = await findPlan(sql, providerId, productRef, planRef)
  const last = await findDecidingPurchase(sql, providerId, customer.reference, productRef)
  const ofPlan = { customerRef: customer.reference, productRef, planRef }
  const lastOfPlan = await findLastOfPlan(sql, providerId, ofPlan)
  const decision = decideActivation({ product, plan, last, lastOfPlan, now })
  switch (decision.kind) {
    case 'invalid':
    case 'already-active':
      return decision
    case 'payment-required':
      return { ...decision, product }
    case 'activate': {
      const { plan: given, change } = decision
      const replaced = await endPrevious(work, last)
      const of = { customer, product, plan: given, now }
      const origin = given.type === 'one-time' ? 'one_time' : 'manual'
      const purchase =
        change === undefined
          ? unpaidPurchase({ ...of, cycleMode, origin })
          : switchedPurchase(of, change, await readSwitchPrice(work, given, change))
      await createPurchase(work, purchase)
      await tellOfPlanChange(work, purchase, replaced)
      if (change !== undefined) await billSwitch(work, purchase, change, request.seller)
      return { kind: 'activated', purchase, plan: given }
    }
  }
}

async function readSwitchPrice(
  { sql, providerId }: UnitOfWork,
  plan: Plan,
  { currency }: PlanSwitch,
): Promise<PurchasePrice> {
  const rate = await findExchangeRate(sql, providerId, currency)
  if (rate === undefined) throw new Error(`nobody knows what ${currency} is worth`)
  return switchPrice(plan, currency, dollarsPerUnit(rate))
}

/**
 * A customer has one open purchase of a product, and one that stands still because it was not paid does not come back
 * beside another. Returns the one that gave access until now, if any.
 */
export async function endPrevious(
  work: UnitOfWork,
  last: Purchase | undefined,
): Promise<Purchase | undefined> {
  if (last === undefined || (await settleLapsed(work, last.reference)) !== undefined) return
  const previous = await lockPurchase(work.sql, work.providerId, last.reference)
  if (previous === undefined) return
  if (isOpen(previous)) return endNow(work, previous, 'expired')
  if (previous.status === 'suspended') await endNow(work, previous, 'expired')
  return undefined
}

export async function tellOfPlanChange(
  work: UnitOfWork,
  purchase: Purchase,
  replaced: Purchase | undefined,
): Promise<void> {
  if (replaced === undefined) return
  const previous = { plan: replaced.planRef }
  await recordEvent(work, 'purchase.plan_changed', planChangedObject(purchase), previous)
}
