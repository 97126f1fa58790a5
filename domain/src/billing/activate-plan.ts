import type { Queryable } from '@tollgate/platform/database/database'
import { findReusablePaymentMethod } from '../cards/repository.ts'
import type { Seller } from '../invoices/parties.ts'
import { billSwitch, storeSwitchDiscounts } from './bill-switch.ts'
import { lockCustomer, type Customer } from '../customers/repository.ts'
import { dollarsPerUnit } from '../money/dollar-amount.ts'
import { findExchangeRate } from '../money/exchange-rates.ts'
import type { CycleMode } from '../periods/periods.ts'
import { hasDisputedPayment } from '../payments/disputes-repository.ts'
import type { Plan } from '../plans/plan.ts'
import { lockAndCheckSoldOut } from '../plans/sold-out.ts'
import { findPlan } from '../catalog/plans-repository.ts'
import { chargesUsageLater } from '../pricing/billed-charges.ts'
import { lockProductAgainstRemoval, type Product } from '../catalog/products-repository.ts'
import {
  recordEvent,
  recordEventWithoutEmail,
  type UnitOfWork,
} from '../unit-of-work/unit-of-work.ts'
import { changeWithoutPlan, differOnlyInAddOns } from '../purchases/carry-add-ons.ts'
import { createPurchase } from '../purchases/create-purchase.ts'
import { decideActivation, type ActivationDecision } from '../purchases/decide-activation.ts'
import { decideEndOfPrevious } from '../purchases/decide-end-of-previous.ts'
import { linkToPredecessor } from '../purchases/link-to-predecessor.ts'
import { endNow } from '../purchases/move-purchase.ts'
import type { PlanSwitch } from '../purchases/decide-switch.ts'
import {
  newSwitchedPurchase,
  switchPrice,
  newUnpaidPurchase,
  type PurchasePrice,
} from '../purchases/new-purchase.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import { planChangedObject } from '../purchases/purchase-event.ts'
import { readActivationState } from '../purchases/read-activation-state.ts'
import { lockPurchase, type Purchase } from '../purchases/repository.ts'
import { schedulePlan, withdrawablePlan } from '../purchases/schedule-plan.ts'

export type ActivateRequest = {
  readonly customer: Customer
  readonly productRef: string
  readonly planRef: string
  readonly cycleMode: CycleMode
}

/** `seller` is the seller on the invoice that a change of plan may create. */
export type ActivateAndBillRequest = ActivateRequest & { readonly seller: Seller }

export type ActivateOutcome =
  | {
      readonly kind: 'activated'
      readonly purchase: Purchase
      readonly plan: Plan
      readonly change: PlanSwitch | undefined
    }
  /** The current purchase stays active. Its renewal at `at` starts the plan. */
  | {
      readonly kind: 'scheduled'
      readonly purchase: Purchase
      readonly plan: Plan
      readonly at: Date
    }
  /** `withdrawn` is the plan of the scheduled change that this request cancelled; null if no change was scheduled. */
  | {
      readonly kind: 'already-active'
      readonly purchase: Purchase
      readonly withdrawn: PlanSnapshot | null
    }
  | {
      readonly kind: 'payment-required'
      readonly product: Product
      readonly plan: Plan
      readonly change: PlanSwitch | undefined
      /** Whether the customer must first pay earlier invoices for the product. */
      readonly hasDebts: boolean
    }
  /** The customer must save a card first. */
  | { readonly kind: 'card-required'; readonly product: Product; readonly plan: Plan }
  | { readonly kind: 'invalid'; readonly reason: string }

/**
 * Activates the plan for the customer and ends the customer's previous purchase of the product. The customer's row is
 * locked, so of concurrent requests the first one activates the plan and the others find its purchase.
 */
export async function activatePlan(
  work: UnitOfWork,
  request: ActivateAndBillRequest,
): Promise<ActivateOutcome> {
  const { sql, providerId, now } = work
  const { customer, productRef, planRef, cycleMode } = request
  const product = await lockProductAgainstRemoval(sql, providerId, productRef)
  if (product === undefined) return { kind: 'invalid', reason: 'There is no such product' }
  if ((await lockCustomer(sql, providerId, customer.reference)) === undefined) {
    return { kind: 'invalid', reason: 'There is no such customer' }
  }
  const plan = await findPlan(sql, providerId, productRef, planRef)
  const ofPlan = { customerRef: customer.reference, productRef, planRef }
  const state = await readActivationState(sql, providerId, ofPlan)
  const isSoldOut =
    plan !== undefined && (await lockAndCheckSoldOut(sql, providerId, plan, customer.reference))
  const decision = decideActivation({ product, plan, ...state, isSoldOut, now })
  switch (decision.kind) {
    case 'invalid':
      return decision
    case 'already-active': {
      const withdrawn = withdrawablePlan(decision.purchase)
      if (withdrawn !== null) {
        const { purchase } = decision
        await schedulePlan(work, purchase.reference, changeWithoutPlan(purchase))
      }
      return { ...decision, withdrawn }
    }
    case 'schedule': {
      const { from, at } = decision.change
      const chosen = { ...decision.change, termsAt: now }
      const purchase = await schedulePlan(work, from.reference, chosen)
      if (purchase === undefined) return { kind: 'invalid', reason: 'The plan before has ended' }
      return { kind: 'scheduled', purchase, plan: decision.plan, at }
    }
    case 'payment-required':
      return { ...decision, product }
    case 'card-required':
      return { kind: 'card-required', product, plan: decision.plan }
    case 'activate': {
      const { plan: activated, change } = decision
      const refusal = await findStartRefusal(work, decision, ofPlan)
      if (refusal !== undefined) return { kind: 'invalid', reason: refusal }
      const replaced = await endPreviousPurchase(work, state.last)
      const of = { customer, product, plan: activated, now }
      const origin = activated.type === 'one-time' ? 'one_time' : 'manual'
      const started =
        change === undefined
          ? newUnpaidPurchase({ ...of, cycleMode, origin })
          : newSwitchedPurchase(of, change, await readSwitchPrice(work, change))
      const purchase = await linkToPredecessor(
        work,
        started,
        { previous: state.last, replaced },
        false,
      )
      await createPurchase(work, purchase)
      await emitPlanChanged(work, purchase, replaced)
      if (change !== undefined) {
        await storeSwitchDiscounts(work, purchase, change)
        await billSwitch(work, purchase, change, request.seller)
      }
      return { kind: 'activated', purchase, plan: activated, change }
    }
  }
}

const anotherCardRequired =
  'A payment for this product was charged back. Save another card before you start a plan that is paid afterwards.'

/**
 * Returns why the plan cannot start, although it needs no payment. After a chargeback, usage is not served on credit unless there is
 * a card that can be charged for it. Undefined if the plan can start.
 */
export async function findStartRefusal(
  { sql, providerId }: ProviderSql,
  { plan, change }: Pick<Extract<ActivationDecision, { kind: 'activate' }>, 'plan' | 'change'>,
  of: { readonly customerRef: string; readonly productRef: string },
): Promise<string | undefined> {
  if (change !== undefined || !chargesUsageLater(plan)) return undefined
  const card = await findReusablePaymentMethod(sql, providerId, of.customerRef)
  const isRefused = card === undefined && (await hasDisputedPayment(sql, providerId, of))
  return isRefused ? anotherCardRequired : undefined
}

type ProviderSql = { readonly sql: Queryable; readonly providerId: string }

/** Returns the price of a purchase that begins with a change of plan. */
export async function readSwitchPrice(
  { sql, providerId }: ProviderSql,
  { plan, currency }: Pick<PlanSwitch, 'plan' | 'currency'>,
): Promise<PurchasePrice> {
  const rate = await findExchangeRate(sql, providerId, currency)
  if (rate === undefined) throw new Error(`there is no exchange rate for ${currency}`)
  return switchPrice(plan, currency, dollarsPerUnit(rate))
}

/** Ends the customer's previous purchase of the product. Returns it if it gave access until now, otherwise undefined. */
export async function endPreviousPurchase(
  work: UnitOfWork,
  last: Purchase | undefined,
): Promise<Purchase | undefined> {
  if (last === undefined) return undefined
  const previous = await lockPurchase(work.sql, work.providerId, last.reference)
  const end = previous && decideEndOfPrevious(previous, work.now)
  if (previous === undefined || end === undefined) return undefined
  const ended = await endNow(work, previous, end.trigger, { endedAt: end.endedAt })
  return end.isReplaced ? ended : undefined
}

/**
 * Emits `purchase.plan_changed` if the purchase replaces another one. It sends no email if only the add-ons differ: the customer has
 * chosen them, and gets the receipt of what they cost.
 */
export async function emitPlanChanged(
  work: UnitOfWork,
  purchase: Purchase,
  replaced: Pick<Purchase, 'planRef' | 'planSnapshot'> | undefined,
): Promise<void> {
  if (replaced === undefined) return
  const [before, after] = [replaced.planSnapshot, purchase.planSnapshot]
  const changesOnlyAddOns = before !== null && after !== null && differOnlyInAddOns(before, after)
  const record = changesOnlyAddOns ? recordEventWithoutEmail : recordEvent
  const previous = { plan: replaced.planRef }
  await record(work, 'purchase.plan_changed', planChangedObject(purchase), previous)
}
