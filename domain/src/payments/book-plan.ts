import { lockCustomer } from '../customers/repository.ts'
import { givesAccess } from '../purchases/access.ts'
import { isPaidFor } from '../purchases/is-paid-for.ts'
import { endPrevious, tellOfPlanChange } from '../purchases/activate-plan.ts'
import { createPurchase } from '../purchases/create-purchase.ts'
import { movePurchase } from '../purchases/move-purchase.ts'
import { paidPurchase, type PurchasePrice } from '../purchases/new-purchase.ts'
import type { PlanSwitch } from '../purchases/decide-switch.ts'
import type { PlanSnapshot } from '../purchases/plan-snapshot.ts'
import { findDecidingPurchase, type Purchase } from '../purchases/repository.ts'
import { listProductNames } from '../products/repository.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { withdrawOtherIntents } from './intents-repository.ts'
import { saleOfCredits, saleOfPlan, type Sale } from './invoice-sale.ts'
import type { PaymentIntent } from './payment-intent.ts'
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
  const change = findSwitch(intent, plan, held, now)
  if (change === 'gone') return undeliverable('The plan that it was to change is not what it was')
  const replaced = await endPrevious(work, last)
  const names = await listProductNames(sql, providerId, [productRef])
  const product = { reference: productRef, name: names.get(productRef) ?? '' }
  const of = { customer, product, plan, now }
  const purchase =
    change === undefined
      ? paidPurchase({ ...of, cycleMode }, planPriceOf(intent))
      : paidSwitch(of, change, intent)
  await createPurchase(work, purchase)
  await movePurchase(work, purchase, 'paid')
  await tellOfPlanChange(work, purchase, replaced)
  await withdrawOtherIntents(sql, providerId, intent, now)
  return booked(saleOf(intent, plan, purchase, change))
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
