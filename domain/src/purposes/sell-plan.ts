import type { Queryable } from '@tollgate/platform/database/database'
import { endPreviousPurchase, emitPlanChanged } from '../billing/activate-plan.ts'
import { findPlan } from '../catalog/plans-repository.ts'
import { listProductNames } from '../catalog/products-repository.ts'
import { lockCustomer, type Customer } from '../customers/repository.ts'
import { withdrawOtherIntents } from '../payments/intents-repository.ts'
import type { PaymentIntent } from '../payments/payment-intent.ts'
import { untaxedTermsOf } from '../payments/taxed-terms.ts'
import { isSoldOutNow, maxQuantityOf, type SoldPlan } from '../plans/places.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import { pricesIn } from '../pricing/plan-prices.ts'
import { givesAccess } from '../purchases/access.ts'
import { createPurchase } from '../purchases/create-purchase.ts'
import { followPurchase } from '../purchases/follow-purchase.ts'
import { movePurchase } from '../purchases/move-purchase.ts'
import { paidPurchase, type PurchasePrice } from '../purchases/new-purchase.ts'
import { findDecidingPurchase, type Purchase } from '../purchases/repository.ts'
import { sellsOnBoundCheckout } from '../sessions/bound-checkout.ts'
import { isBoundCheckout } from '../sessions/checkout-sessions.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { decidePlanSale, type PlanSaleDecision } from './decide-plan-sale.ts'
import { saleOfCredits, saleOfPlan, type Sale } from './invoice-sale.ts'
import { findSwitch, paidSwitch } from './paid-switch.ts'
import { undeliverable, type Booking, type Undeliverable } from './payment-handler.ts'

/**
 * Starts the plan that was paid for in place of another plan of the product, or finds the purchase that the credits are for. Other
 * open payments for the product are cancelled. If two payments for one plan succeed at the same moment, the second delivers
 * nothing.
 */
export async function sellPlan(work: UnitOfWork, intent: PaymentIntent): Promise<Booking> {
  const { credits, cycleMode, currency } = intent
  const offer = await readOffer(work, intent)
  if (offer.kind === 'undeliverable') return offer
  const { decision, plan, customer, product } = offer
  if (decision.kind === 'add-credits') {
    return booked(saleOfCredits(intent, credits ?? 0n, decision.held.reference))
  }
  const started = paidPurchase(
    { customer, product, plan, now: work.now, cycleMode },
    planPriceOf(intent),
  )
  // A payment for credits, or only for a set-up fee, does not pay the price of a period.
  const isPaidInFull = credits === null && (pricesIn(plan, currency)?.priceMinor ?? 0n) > 0n
  const purchase = await start(work, intent, offer, started, isPaidInFull)
  return booked(
    credits === null
      ? saleOfPlan(intent, plan, purchase)
      : saleOfCredits(intent, credits, purchase.reference),
  )
}

/** Changes the plan within the paid period, as it was priced. */
export async function sellPlanChange(work: UnitOfWork, intent: PaymentIntent): Promise<Booking> {
  const offer = await readOffer(work, intent)
  if (offer.kind === 'undeliverable') return offer
  const { plan, customer, product, held } = offer
  const change = findSwitch(intent, plan, held, work.now)
  if (change === 'gone') return undeliverable('The plan that it was to change is not what it was')
  const started = paidSwitch({ customer, product, plan, now: work.now }, change, intent)
  const { reference: purchaseRef } = await start(work, intent, offer, started, false)
  return booked({ purchaseRef, lines: change.lines, claims: [] })
}

type Offer = {
  readonly kind: 'offer'
  readonly decision: Exclude<PlanSaleDecision, Undeliverable>
  readonly customer: Customer
  readonly product: { readonly reference: string; readonly name: string }
  readonly plan: PlanSnapshot
  /** The customer's latest purchase of the product. */
  readonly last: Purchase | undefined
  /** The same purchase if it gives access now. */
  readonly held: Purchase | undefined
}

/** Locks the customer, and the plan if its quantity is limited. */
async function readOffer(work: UnitOfWork, intent: PaymentIntent): Promise<Offer | Undeliverable> {
  const { sql, providerId, now } = work
  const { customerRef, productRef, planSnapshot: plan, credits } = intent
  if (productRef === null || plan === null) throw new Error(`${intent.reference} buys no plan`)
  const customer = await lockCustomer(sql, providerId, customerRef)
  if (customer === undefined) return undeliverable('The customer was deleted')
  const last = await findDecidingPurchase(sql, providerId, customerRef, productRef)
  const held = last !== undefined && givesAccess(last, now) ? last : undefined
  // A payment that succeeds after the plan was sold out is refunded.
  const sold = await currentTermsOf(sql, providerId, productRef, plan)
  const decision = decidePlanSale({
    plan,
    held,
    buysCredits: credits !== null,
    isSoldOut: await isSoldOutNow(sql, providerId, sold, customerRef),
    isBeyondCheckout: await isBeyondCheckout(work, intent, plan, last),
    now,
  })
  if (decision.kind === 'undeliverable') return decision
  const names = await listProductNames(sql, providerId, [productRef])
  const product = { reference: productRef, name: names.get(productRef) ?? '' }
  return { kind: 'offer', decision, customer, product, plan, last, held }
}

async function start(
  work: UnitOfWork,
  intent: PaymentIntent,
  { last }: Offer,
  started: Purchase,
  isPaidInFull: boolean,
): Promise<Purchase> {
  const replaced = await endPreviousPurchase(work, last)
  const purchase = await followPurchase(work, started, { previous: last, replaced }, isPaidInFull)
  await createPurchase(work, purchase)
  await movePurchase(work, purchase, 'paid')
  await emitPlanChanged(work, purchase, replaced)
  await withdrawOtherIntents(work.sql, work.providerId, intent, work.now)
  return purchase
}

/** Reads the current plan, because the provider may have raised its quantity since the payment was created. */
async function currentTermsOf(
  sql: Queryable,
  providerId: string,
  productRef: string,
  plan: PlanSnapshot,
): Promise<SoldPlan> {
  if (maxQuantityOf(plan) === undefined) return plan
  return (await findPlan(sql, providerId, productRef, plan.reference)) ?? plan
}

/** A purchase that a bound checkout must not end may have begun after the payment was created. */
async function isBeyondCheckout(
  { sql, providerId, now }: UnitOfWork,
  { checkoutSessionId }: PaymentIntent,
  plan: PlanSnapshot,
  last: Purchase | undefined,
): Promise<boolean> {
  if (checkoutSessionId === null || sellsOnBoundCheckout(plan, last, now)) return false
  return isBoundCheckout(sql, providerId, checkoutSessionId)
}

function booked(sale: Sale): Booking {
  return { kind: 'booked', purchaseRef: sale.purchaseRef, sale }
}

/** A payment for credits is not the price of the plan, and neither is tax. */
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
