import type { ActivateAndBillRequest } from '../billing/activate-plan.ts'
import { emitPlanChanged, endPreviousPurchase } from '../billing/activate-plan.ts'
import { findPlan } from '../catalog/plans-repository.ts'
import { lockProductAgainstRemoval } from '../catalog/products-repository.ts'
import { discountLines } from '../coupons/discount-lines.ts'
import { lockCustomer } from '../customers/repository.ts'
import { createDraft } from '../invoices/create-draft.ts'
import { issueInvoice } from '../invoices/issue-invoice.ts'
import { readParties } from '../invoices/parties.ts'
import { processorMinimumOf } from '../money/currencies.ts'
import { dollarCents, dollarsPerUnit } from '../money/dollar-amount.ts'
import { findExchangeRate } from '../money/exchange-rates.ts'
import { isPack } from '../packs/pack-terms.ts'
import type { IntentDiscount } from '../payments/payment-intent.ts'
import {
  discountsOfSale,
  intentDiscountsOf,
  readSaleDiscounts,
} from '../payments/sale-discounts.ts'
import { isCreditBased, renews, type Plan } from '../plans/plan.ts'
import { lockAndCheckSoldOut } from '../plans/sold-out.ts'
import { totalOf } from '../pricing/invoice-line.ts'
import { pricesIn } from '../pricing/plan-prices.ts'
import { givesAccess } from '../purchases/access.ts'
import { createPurchase } from '../purchases/create-purchase.ts'
import { decideActivation, type ActivationInput } from '../purchases/decide-activation.ts'
import { linkToPredecessor } from '../purchases/link-to-predecessor.ts'
import { movePurchase } from '../purchases/move-purchase.ts'
import { newPaidPurchase } from '../purchases/new-purchase.ts'
import { readActivationState } from '../purchases/read-activation-state.ts'
import type { Purchase } from '../purchases/repository.ts'
import type { ReadingAt, UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { claimSaleDiscounts } from './claim-discounts.ts'
import { planSale } from './invoice-sale.ts'

/** The price of a plan of which discounts leave nothing, or less than can be charged. */
export type DiscountedStart = {
  readonly plan: Plan
  /** Before discounts, in minor units of the plan's currency. */
  readonly priceMinor: bigint
  readonly discounts: readonly IntentDiscount[]
  /** Whether the customer must save a card first, because later periods are charged. */
  readonly needsCard: boolean
}

/** Returns undefined if the plan needs a payment, or starts in another way. `couponRef`: the coupon that the customer entered. */
export async function findDiscountedStart(
  at: ReadingAt,
  input: ActivationInput,
  customerRef: string,
  couponRef: string | null,
): Promise<DiscountedStart | undefined> {
  const decision = decideActivation(input)
  if (decision.kind !== 'payment-required' || decision.hasDebts) return undefined
  const { plan, change } = decision
  if (change !== undefined || isPack(plan) || isCreditBased(plan)) return undefined
  const { last, now, isFirstCharge, hasCard } = input
  const held = last !== undefined && givesAccess(last, now) ? last : undefined
  const { currency, productRef, reference: planRef } = plan
  const sale = { customerRef, productRef, planRef, currency, purchaseRef: held?.reference ?? null }
  const read = await readSaleDiscounts(at, sale, couponRef ?? undefined)
  if (read.kind === 'fault') return undefined
  const prices = pricesIn(plan, currency)
  const feeMinor = isFirstCharge ? (prices?.setupFeeMinor ?? 0n) : 0n
  const priceMinor = (prices?.priceMinor ?? 0n) + feeMinor
  const taken = discountLines(priceMinor, discountsOfSale(read))
  const leftMinor = priceMinor + totalOf(taken.map(({ line }) => line))
  if (taken.length === 0 || leftMinor >= processorMinimumOf(currency)) return undefined
  const discounts = intentDiscountsOf(read, taken)
  return { plan, priceMinor, discounts, needsCard: renews(plan) && !hasCard }
}

/**
 * Starts a plan whose discounted price needs no payment, and redeems its coupon. The invoice is issued in the same transaction, and
 * what is too small to be charged is carried over to the customer's next invoice. Returns undefined if the plan cannot start in this
 * way.
 */
export async function startDiscountedPlan(
  work: UnitOfWork,
  request: ActivateAndBillRequest & { readonly couponRef: string | null },
): Promise<Plan | undefined> {
  const { sql, providerId, now } = work
  const { customer, productRef, planRef, couponRef } = request
  const { reference: customerRef } = customer
  const product = await lockProductAgainstRemoval(sql, providerId, productRef)
  if (product === undefined) return undefined
  if ((await lockCustomer(sql, providerId, customerRef)) === undefined) return undefined
  const listed = await findPlan(sql, providerId, productRef, planRef)
  if (listed === undefined) return undefined
  const state = await readActivationState(sql, providerId, { customerRef, productRef, planRef })
  const isSoldOut = await lockAndCheckSoldOut(sql, providerId, listed, customerRef)
  const input = { product, plan: listed, ...state, isSoldOut, now }
  const begun = await findDiscountedStart(work, input, customerRef, couponRef)
  if (begun === undefined || begun.needsCard) return undefined
  const started = await newDiscountedPurchase(work, request, product, begun)
  if (started === undefined) return undefined
  const claimed = { discounts: begun.discounts, customerRef }
  if ((await claimSaleDiscounts(work, claimed, started, state.last)) !== undefined) return undefined
  const replaced = await endPreviousPurchase(work, state.last)
  const { plan } = begun
  const isPaidInFull = (pricesIn(plan, plan.currency)?.priceMinor ?? 0n) > 0n
  const predecessor = { previous: state.last, replaced }
  const purchase = await linkToPredecessor(work, started, predecessor, isPaidInFull)
  await createPurchase(work, purchase)
  await movePurchase(work, purchase, 'paid')
  await emitPlanChanged(work, purchase, replaced)
  await invoiceStart(work, request, purchase, begun)
  return plan
}

/** Returns undefined if the currency of the plan has no exchange rate. */
async function newDiscountedPurchase(
  { sql, providerId, now }: UnitOfWork,
  { customer, cycleMode }: ActivateAndBillRequest,
  product: ActivationInput['product'],
  { plan, priceMinor }: DiscountedStart,
): Promise<Purchase | undefined> {
  const { currency } = plan
  const rate = await findExchangeRate(sql, providerId, currency)
  if (rate === undefined) return undefined
  const exchangeRate = dollarsPerUnit(rate)
  return newPaidPurchase(
    { customer, product, plan, now, cycleMode },
    {
      amountMinor: Number(dollarCents(priceMinor, currency, exchangeRate)),
      originalAmountMinor: Number(priceMinor),
      currency,
      exchangeRate,
    },
  )
}

async function invoiceStart(
  work: UnitOfWork,
  { seller, productRef, customer: { reference: customerRef } }: ActivateAndBillRequest,
  purchase: Purchase,
  { plan, priceMinor, discounts }: DiscountedStart,
): Promise<void> {
  const { currency } = plan
  const { purchaseRef, lines, claims } = planSale(plan, purchase, currency, priceMinor, discounts)
  const { planSnapshot } = purchase
  const of = { customerRef, purchaseRef, planSnapshot, currency, takesItems: false }
  const draft = await createDraft(work, { ...of, lines, claims })
  if (draft.kind !== 'created') {
    throw new Error(`the first period of purchase ${purchaseRef} is already billed`)
  }
  const parties = await readParties(work, customerRef, productRef, seller)
  await issueInvoice(work, draft.invoice, parties)
}
