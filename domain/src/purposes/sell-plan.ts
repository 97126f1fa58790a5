import { requestCheck } from '../alerts/checks-repository.ts'
import type { Queryable } from '@tollgate/platform/database/database'
import { listPeriodDiscounts } from '../coupons/discounts-repository.ts'
import { storeSwitchDiscounts } from '../billing/bill-switch.ts'
import { claimSaleDiscounts } from './claim-discounts.ts'
import { endPreviousPurchase, emitPlanChanged } from '../billing/activate-plan.ts'
import { findPlan } from '../catalog/plans-repository.ts'
import { listProductNames } from '../catalog/products-repository.ts'
import { lockCustomer, type Customer } from '../customers/repository.ts'
import type { OverridesVersion } from '../overrides/overrides.ts'
import { offeredPlan } from '../overrides/priced-plan.ts'
import { findOverrides } from '../overrides/repository.ts'
import { addPack } from '../packs/add-pack.ts'
import { hasMaxPacks } from '../packs/repository.ts'
import { joinMigration } from '../plan-migrations/join-migration.ts'
import { requestCancelOfOthers } from '../payments/intents-repository.ts'
import type { PaymentIntent } from '../payments/payment-intent.ts'
import { listPriceOf, priceBeforeTax, termsForTotal } from '../payments/taxed-terms.ts'
import { lockAndCheckSoldOut, maxQuantityOf, type SoldPlan } from '../plans/sold-out.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import { pricesIn } from '../pricing/plan-prices.ts'
import { givesAccess } from '../purchases/access.ts'
import { packsFullReason } from '../purchases/decide-activation.ts'
import { createPurchase } from '../purchases/create-purchase.ts'
import { linkToPredecessor } from '../purchases/link-to-predecessor.ts'
import { movePurchase } from '../purchases/move-purchase.ts'
import {
  newPaidPurchase,
  type PurchasePrice,
  type NewPurchase,
  newSwitchedPurchase,
  switchPrice,
} from '../purchases/new-purchase.ts'
import { firstPaid, rampPeriodsBegun } from '../purchases/offered-plan.ts'
import { findDecidingPurchase, findLastOfPlan, type Purchase } from '../purchases/repository.ts'
import { mayBoundCheckoutSell } from '../sessions/bound-checkout.ts'
import { isBoundCheckout } from '../sessions/checkout-sessions.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { decidePlanSale, type PlanSaleDecision } from './decide-plan-sale.ts'
import { saleOfCredits, saleOfPlan, type Sale } from './invoice-sale.ts'
import { undeliverable, type Booking, type Undeliverable } from './payment-handler.ts'
import { totalOf } from '../pricing/invoice-line.ts'
import { decideSwitch, type PlanSwitch, type SwitchInput } from '../purchases/decide-switch.ts'

/**
 * Starts the plan that was paid for in place of another plan of the product, or finds the purchase that the credits are for. Other
 * open payments for the product are cancelled. If two payments for one plan succeed at the same moment, the second delivers
 * nothing.
 */
export async function sellPlan(work: UnitOfWork, intent: PaymentIntent): Promise<Booking> {
  const { credits, cycleMode, currency } = intent
  const sale = await readPlanSale(work, intent)
  if (sale.kind === 'undeliverable') return sale
  const { decision, plan, customer, product } = sale
  if (decision.kind === 'add-credits') {
    return bookSale(saleOfCredits(intent, credits ?? 0n, decision.held.reference))
  }
  const { continued } = sale
  const paid = newPaidPurchase(
    { customer, product, plan: continued, now: work.now, cycleMode },
    planPriceOf(intent),
  )
  const priced = { ...paid, overrides: sale.overrides }
  const started = { ...priced, ...firstPaid(priced, plan) }
  const isPack = decision.kind === 'add-pack'
  if (isPack && (await hasMaxPacks(work.sql, work.providerId, started, work.now))) {
    return undeliverable(packsFullReason)
  }
  const refused = await claimSaleDiscounts(work, intent, started, sale.last)
  if (refused !== undefined) return refused
  if (isPack) return sellPack(work, intent, plan, started)
  // A payment for credits, or only for a set-up fee, does not pay the price of a period.
  const isPaidInFull = credits === null && (pricesIn(plan, currency)?.priceMinor ?? 0n) > 0n
  const purchase = await startPurchase(work, intent, sale, started, isPaidInFull)
  return bookSale(
    credits === null
      ? saleOfPlan(intent, plan, purchase)
      : saleOfCredits(intent, credits, purchase.reference),
  )
}

/** Adds a pack beside the running purchase, which stays as it is. Other payments for the product can still succeed. */
async function sellPack(
  work: UnitOfWork,
  intent: PaymentIntent,
  plan: PlanSnapshot,
  purchase: Purchase,
): Promise<Booking> {
  await createPurchase(work, purchase)
  await movePurchase(work, purchase, 'paid')
  await addPack(work, purchase, plan)
  // A pack pays for usage of the whole period, which may end the stop of a budget.
  await requestCheck(work, purchase.customerRef)
  return bookSale(saleOfPlan(intent, plan, purchase))
}

/** Changes the plan within the paid period, as it was priced. */
export async function sellPlanChange(work: UnitOfWork, intent: PaymentIntent): Promise<Booking> {
  const sale = await readPlanSale(work, intent)
  if (sale.kind === 'undeliverable') return sale
  const { plan, customer, product, held } = sale
  const periodDiscounts =
    held === undefined ? [] : await listPeriodDiscounts(work.sql, work.providerId, held.reference)
  const change = findPaidSwitch(intent, { plan, held, periodDiscounts }, work.now)
  if (change === 'gone') return undeliverable('The plan that it was to change is not what it was')
  const started = newPurchaseOfSwitch({ customer, product, plan, now: work.now }, change, intent)
  const purchase = await startPurchase(work, intent, sale, started, false)
  await storeSwitchDiscounts(work, purchase, change)
  const { reference: purchaseRef } = purchase
  return bookSale({ purchaseRef, lines: change.lines, claims: [] })
}

type PlanSale = {
  readonly kind: 'sale'
  readonly decision: Exclude<PlanSaleDecision, Undeliverable>
  readonly customer: Customer
  readonly product: { readonly reference: string; readonly name: string }
  /** With the prices of the customer at the time of the payment's creation. */
  readonly plan: PlanSnapshot
  /**
   * The plan as it goes on after the payment. The customer may have begun periods of a ramp since the payment was created, and does not
   * get them again.
   */
  readonly continued: PlanSnapshot
  /** The customer's overrides of the product. */
  readonly overrides: readonly OverridesVersion[]
  /** The customer's latest purchase of the product. */
  readonly last: Purchase | undefined
  /** The same purchase if it gives access now. */
  readonly held: Purchase | undefined
}

/** Locks the customer, and the plan if its quantity is limited. */
async function readPlanSale(
  work: UnitOfWork,
  intent: PaymentIntent,
): Promise<PlanSale | Undeliverable> {
  const { sql, providerId, now } = work
  const { customerRef, productRef, planSnapshot: sold, credits } = intent
  if (productRef === null || sold === null) throw new Error(`${intent.reference} buys no plan`)
  const customer = await lockCustomer(sql, providerId, customerRef)
  if (customer === undefined) return undeliverable('The customer was deleted')
  const last = await findDecidingPurchase(sql, providerId, customerRef, productRef)
  const held = last !== undefined && givesAccess(last, now) ? last : undefined
  const overrides = await findOverrides(sql, providerId, customerRef, productRef)
  // The payment was created with the prices of that time.
  const pricedAt = new Date(intent.planSwitch?.changedAt ?? intent.createdAt)
  const plan = offeredPlan(sold, overrides, pricedAt, sold.rampPeriods)
  // A payment that succeeds after the plan was sold out is refunded.
  const current = await currentTermsOf(sql, providerId, productRef, sold)
  const decision = decidePlanSale({
    plan,
    held,
    buysCredits: credits !== null,
    isForNothing: intent.originalAmountMinor === 0n && intent.fromBalanceMinor === 0n,
    isSoldOut: await lockAndCheckSoldOut(sql, providerId, current, customerRef),
    isForbiddenByCheckout: await isForbiddenByCheckout(work, intent, plan, last),
    now,
  })
  if (decision.kind === 'undeliverable') return decision
  const ofPlan = { customerRef, productRef, planRef: sold.reference }
  const begun = rampPeriodsBegun(await findLastOfPlan(sql, providerId, ofPlan), now)
  const continued =
    begun > (sold.rampPeriods ?? 0) ? offeredPlan(sold, overrides, now, begun) : plan
  const names = await listProductNames(sql, providerId, [productRef])
  const product = { reference: productRef, name: names.get(productRef) ?? '' }
  return { kind: 'sale', decision, customer, product, plan, continued, overrides, last, held }
}

async function startPurchase(
  work: UnitOfWork,
  intent: PaymentIntent,
  { last }: PlanSale,
  started: Purchase,
  isPaidInFull: boolean,
): Promise<Purchase> {
  const replaced = await endPreviousPurchase(work, last)
  const purchase = await linkToPredecessor(
    work,
    started,
    { previous: last, replaced },
    isPaidInFull,
  )
  await createPurchase(work, purchase)
  await movePurchase(work, purchase, 'paid')
  await emitPlanChanged(work, purchase, replaced)
  await joinMigration(work, purchase, intent.createdAt)
  await requestCancelOfOthers(work.sql, work.providerId, intent, work.now)
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
async function isForbiddenByCheckout(
  { sql, providerId, now }: UnitOfWork,
  { checkoutSessionId }: PaymentIntent,
  plan: PlanSnapshot,
  last: Purchase | undefined,
): Promise<boolean> {
  if (checkoutSessionId === null || mayBoundCheckoutSell(plan, last, now)) return false
  return isBoundCheckout(sql, providerId, checkoutSessionId)
}

function bookSale(sale: Sale): Booking {
  return { kind: 'booked', purchaseRef: sale.purchaseRef, sale }
}

/** A payment for credits is not the price of the plan, and neither is tax. */
function planPriceOf(intent: PaymentIntent): PurchasePrice {
  const { currency, exchangeRate } = intent
  if (intent.credits !== null) {
    return { amountMinor: 0, originalAmountMinor: null, currency, exchangeRate: null }
  }
  const { amountMinor, originalAmountMinor } = termsForTotal(
    intent,
    listPriceOf(priceBeforeTax(intent), intent.discounts),
  )
  return {
    amountMinor: Number(amountMinor),
    originalAmountMinor: Number(originalAmountMinor),
    currency,
    exchangeRate,
  }
}

/**
 * Returns the change of plan that was paid for, as it was priced. `gone`: the purchase to be changed or its period has ended before
 * the payment.
 */
function findPaidSwitch(
  intent: PaymentIntent,
  of: Pick<SwitchInput, 'plan' | 'held' | 'periodDiscounts'>,
  now: Date,
): PlanSwitch | 'gone' {
  const { planSwitch, currency } = intent
  if (planSwitch === null) throw new Error(`${intent.reference} changes no plan`)
  const { fromPurchaseRef, changedAt, isFirst: isFirstCharge } = planSwitch
  if (of.held?.reference !== fromPurchaseRef) return 'gone'
  const change = decideSwitch({ ...of, isFirstCharge, currency, at: new Date(changedAt) })
  if (change === undefined || change.period.end <= now) return 'gone'
  return totalOf(change.lines) === priceBeforeTax(intent) ? change : 'gone'
}

/** Returns the new purchase. The transition `paid` makes it active. */
function newPurchaseOfSwitch(
  given: Omit<NewPurchase, 'origin' | 'cycleMode'>,
  change: PlanSwitch,
  { currency, exchangeRate }: PaymentIntent,
): Purchase {
  const price = switchPrice(change.plan, currency, exchangeRate)
  const purchase = newSwitchedPurchase(given, change, price)
  return { ...purchase, status: 'pending', paidAt: given.now }
}
