import type { Queryable } from '@tollgate/platform/database/database'
import { lockCustomer } from '../customers/repository.ts'
import { isSoldOutNow, maxQuantityOf, type SoldPlan } from '../plans/places.ts'
import { findPlan } from '../catalog/plans-repository.ts'
import { soldOut } from '../purchases/decide-activation.ts'
import { pricesIn } from '../pricing/plan-prices.ts'
import { givesAccess } from '../purchases/access.ts'
import { isPaidFor } from '../purchases/is-paid-for.ts'
import { endPrevious, tellOfPlanChange } from '../billing/activate-plan.ts'
import { createPurchase } from '../purchases/create-purchase.ts'
import { followPurchase } from '../purchases/follow-purchase.ts'
import { movePurchase } from '../purchases/move-purchase.ts'
import { keptUntil } from '../purchases/notice.ts'
import { paidPurchase, type PurchasePrice } from '../purchases/new-purchase.ts'
import type { PlanSwitch } from '../purchases/decide-switch.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import { findDecidingPurchase, type Purchase } from '../purchases/repository.ts'
import { listProductNames } from '../catalog/products-repository.ts'
import { sellsOnBoundCheckout } from '../sessions/bound-checkout.ts'
import { isBoundCheckout } from '../sessions/checkout-sessions.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { withdrawOtherIntents } from '../payments/intents-repository.ts'
import { saleOfCredits, saleOfPlan, type Sale } from './invoice-sale.ts'
import type { PaymentIntent } from '../payments/payment-intent.ts'
import { findSwitch, paidSwitch } from './paid-switch.ts'
import { untaxedTermsOf } from './taxed-terms.ts'

export type Booking =
  | {
      readonly kind: 'booked'
      readonly purchaseRef: string | null
      /** What its invoice is to tell; absent: it has paid one that there was. */
      readonly sale?: Sale
    }
  /** There is nothing to be given for the money. */
  | { readonly kind: 'undeliverable'; readonly reason: string }

/**
 * Gives the customer the plan that was paid, in place of another one of the product. What could still be paid for the
 * product besides is withdrawn; where two payments of one plan succeed at the same moment all the same, the second one
 * has nothing left to give.
 */
export async function bookPlan(work: UnitOfWork, intent: PaymentIntent): Promise<Booking> {
  const { sql, providerId, now } = work
  const { customerRef, productRef, planSnapshot: plan, cycleMode } = intent
  if (productRef === null || plan === null) throw new Error(`${intent.reference} buys no plan`)
  const customer = await lockCustomer(sql, providerId, customerRef)
  if (customer === undefined) return undeliverable('The customer was deleted')
  const last = await findDecidingPurchase(sql, providerId, customerRef, productRef)
  const held = last !== undefined && givesAccess(last, now) ? last : undefined
  if (held !== undefined && held.planRef === plan.reference) {
    if (intent.credits !== null) {
      return booked(saleOfCredits(intent, intent.credits, held.reference))
    }
    if (isPaidFor(held)) return undeliverable('The plan was paid already')
  }
  // Who paid after the last one was sold is paid back.
  const sold = await currentTermsOf(sql, providerId, productRef, plan)
  if (await isSoldOutNow(sql, providerId, sold, customerRef)) return undeliverable(soldOut)
  if (await isBeyondCheckout(work, intent, plan, last)) {
    return undeliverable('The checkout may not end another plan')
  }
  // The plan with the notice may have begun after the payment did.
  if (held !== undefined && keptUntil(held, plan, now) !== undefined) {
    return undeliverable('The plan before is held by its notice')
  }
  const change = findSwitch(intent, plan, held, now)
  if (change === 'gone') return undeliverable('The plan that it was to change is not what it was')
  const replaced = await endPrevious(work, last)
  const names = await listProductNames(sql, providerId, [productRef])
  const product = { reference: productRef, name: names.get(productRef) ?? '' }
  const of = { customer, product, plan, now }
  const started =
    change === undefined
      ? paidPurchase({ ...of, cycleMode }, planPriceOf(intent))
      : paidSwitch(of, change, intent)
  const isPaidInFull = change === undefined && isPriceOfPeriod(intent, plan)
  const purchase = await followPurchase(work, started, { previous: last, replaced }, isPaidInFull)
  await createPurchase(work, purchase)
  await movePurchase(work, purchase, 'paid')
  await tellOfPlanChange(work, purchase, replaced)
  await withdrawOtherIntents(sql, providerId, intent, now)
  return booked(saleOf(intent, plan, purchase, change))
}

/** The provider may have raised the quantity since the payment was made. */
async function currentTermsOf(
  sql: Queryable,
  providerId: string,
  productRef: string,
  plan: PlanSnapshot,
): Promise<SoldPlan> {
  if (maxQuantityOf(plan) === undefined) return plan
  return (await findPlan(sql, providerId, productRef, plan.reference)) ?? plan
}

/** The purchase that a bound checkout must not end may have begun after the payment did. */
async function isBeyondCheckout(
  { sql, providerId, now }: UnitOfWork,
  { checkoutSessionId }: PaymentIntent,
  plan: PlanSnapshot,
  last: Purchase | undefined,
): Promise<boolean> {
  if (checkoutSessionId === null || sellsOnBoundCheckout(plan, last, now)) return false
  return isBoundCheckout(sql, providerId, checkoutSessionId)
}

/** Money that buys credits is not the price of a period, and a set-up fee is not either. */
function isPriceOfPeriod({ credits, currency }: PaymentIntent, plan: PlanSnapshot): boolean {
  return credits === null && (pricesIn(plan, currency)?.priceMinor ?? 0n) > 0n
}

function saleOf(
  intent: PaymentIntent,
  plan: PlanSnapshot,
  purchase: Purchase,
  change: PlanSwitch | undefined,
): Sale {
  const { reference: purchaseRef } = purchase
  if (intent.credits !== null) return saleOfCredits(intent, intent.credits, purchaseRef)
  if (change !== undefined) return { purchaseRef, lines: change.lines, claims: [] }
  return saleOfPlan(intent, plan, purchase)
}

function booked(sale: Sale): Booking {
  return { kind: 'booked', purchaseRef: sale.purchaseRef, sale }
}

/** Money that buys credits is no price of the plan, and tax is none either. */
function planPriceOf(intent: PaymentIntent): PurchasePrice {
  const { currency, exchangeRate } = intent
  if (intent.credits !== null) {
    return { amountMinor: 0, originalAmountMinor: null, currency, exchangeRate: null }
  }
  const { amountMinor, originalAmountMinor } = untaxedTermsOf(intent)
  return {
    amountMinor: Number(amountMinor),
    originalAmountMinor: Number(originalAmountMinor),
    currency,
    exchangeRate,
  }
}

function undeliverable(reason: string): Booking {
  return { kind: 'undeliverable', reason }
}
