import { couponFaultReasons, type CouponFault } from '../coupons/decide-redemption.ts'
import type { DiscountedPurchase } from '../coupons/discounts-repository.ts'
import { findMerchant } from '../merchants/repository.ts'
import { findExchangeRate, type ExchangeRate } from '../money/exchange-rates.ts'
import type { CycleMode } from '../periods/periods.ts'
import { isOffered } from '../catalog/plan-offer.ts'
import { isPack } from '../packs/pack-terms.ts'
import { hasMaxPacks } from '../packs/repository.ts'
import { isSoldOut } from '../plans/sold-out.ts'
import { isCreditBased, type Plan } from '../plans/plan.ts'
import { findPlan } from '../catalog/plans-repository.ts'
import { findProduct } from '../catalog/products-repository.ts'
import { currenciesOf } from '../pricing/plan-prices.ts'
import { findProvider, type Provider } from '../providers/repository.ts'
import { givesAccess, isPaidFor } from '../purchases/access.ts'
import { packAloneReason, packsFullReason, soldOutReason } from '../purchases/decide-activation.ts'
import { decideChange, tooEarlyReason } from '../purchases/decide-switch.ts'
import { offerOwnPeriod, offerTo } from '../purchases/offered-plan.ts'
import { readActivationState } from '../purchases/read-activation-state.ts'
import { findTax } from '../invoices/read-tax.ts'
import { paymentLine } from '../invoices/taxed-sale.ts'
import { readAnswered, type AnsweredParts } from '../unit-of-work/read-answered.ts'
import type { TaxBreakdown } from '../invoices/tax-breakdown.ts'
import type { Operation, ReadingAt } from '../unit-of-work/unit-of-work.ts'
import {
  decideRequestedTopUpTerms,
  decidePlanTerms,
  decideSwitchTerms,
  discountedAwayReason,
  tooLittleLeftReason,
  type IntentTerms,
} from './decide-terms.ts'
import type { IntentDiscount, IntentSwitch } from '../payments/payment-intent.ts'
import {
  discountsOfSale,
  intentDiscountsOf,
  readSaleDiscounts,
} from '../payments/sale-discounts.ts'
import type { PaymentRequest } from './payment-request.ts'
import { totalTooLargeReason } from '../payments/taxed-terms.ts'

export type PricedRequest = {
  readonly kind: 'priced'
  readonly plan: Plan | undefined
  readonly cycleMode: CycleMode
  readonly terms: IntentTerms
  /** Tax by the customer's stored tax details; null if the customer has given none. */
  readonly tax: TaxBreakdown | null
  /** The change of plan that the payment pays for; undefined if the payment pays a new period or none. */
  readonly planSwitch?: IntentSwitch | undefined
  readonly discounts?: readonly IntentDiscount[] | undefined
  /** Name of the provider. */
  readonly sellerName: string
}

export type PriceOutcome =
  | PricedRequest
  | RefusedRequest
  | { readonly kind: 'product-not-found' }
  | { readonly kind: 'plan-not-found' }

export type RefusedRequest = {
  readonly kind: 'refused'
  readonly reason: string
  /** Why the coupon is refused. Absent if the request is refused for another reason. */
  readonly couponFault?: CouponFault
}

/** Calculates the amounts of a request at current prices, exchange rates and taxes. */
export async function priceRequest(
  parts: AnsweredParts,
  operation: Pick<Operation, 'providerId' | 'environment' | 'now'>,
  request: PaymentRequest,
): Promise<PriceOutcome> {
  const { providerId } = operation
  const { control } = parts.database.of(providerId)
  const provider = await control.read((sql) => findProvider(sql, providerId))
  if (provider === undefined) throw new Error(`provider ${providerId} is gone`)
  return readAnswered(parts, operation, async (at): Promise<PriceOutcome> => {
    const priced =
      request.purpose === 'credit_topup'
        ? await priceTopUp(at, provider, request)
        : await pricePlan(at, provider, request)
    return priced.kind === 'untaxed' ? addTax(at, provider, request, priced) : priced
  })
}

type Untaxed =
  | (Omit<PricedRequest, 'kind' | 'tax' | 'sellerName'> & { readonly kind: 'untaxed' })
  | Exclude<PriceOutcome, PricedRequest>

async function priceTopUp(
  { sql, providerId }: ReadingAt,
  { cycleMode, defaultCurrency }: Provider,
  { currency = defaultCurrency, amountMinor, couponRef }: PaymentRequest,
): Promise<Untaxed> {
  if (couponRef !== undefined) return couponRefused('out_of_scope')
  const { topupCurrencies } = await findMerchant(sql, providerId)
  const supportedCurrencies = [...new Set([defaultCurrency, ...topupCurrencies])]
  const rate = await findExchangeRate(sql, providerId, currency)
  const decision = decideRequestedTopUpTerms({ amountMinor, currency, supportedCurrencies }, rate)
  if (decision.kind === 'refuse') return refused(decision.reason)
  return { kind: 'untaxed', plan: undefined, cycleMode, terms: decision.terms }
}

async function pricePlan(
  { sql, providerId, now }: ReadingAt,
  { cycleMode }: Provider,
  request: PaymentRequest,
): Promise<Untaxed> {
  const { productRef, planRef, customer } = request
  if (productRef === undefined || planRef === undefined) {
    return refused('productRef and planRef are required unless purpose is credit_topup')
  }
  const product = await findProduct(sql, providerId, productRef)
  if (product === undefined) return { kind: 'product-not-found' }
  const listed = await findPlan(sql, providerId, productRef, planRef)
  if (listed === undefined) return { kind: 'plan-not-found' }
  if (product.status !== 'active' || !isOffered(listed)) {
    return refused(`Plan ${planRef} cannot be bought`)
  }
  const of = { customerRef: customer.reference, productRef, planRef }
  const state = await readActivationState(sql, providerId, of)
  const { last: held, isFirstCharge, hasDebts, lastDiscounts } = state
  const plan = offerTo(listed, state, now)
  if (held?.planRef === planRef && givesAccess(held, now) && isPaidFor(held)) {
    return refused(`The customer has plan ${planRef} already`)
  }
  if (hasDebts) {
    return refused(
      'Invoices for the product are unpaid: the customer pays them on a checkout first',
    )
  }
  if (await isSoldOut(sql, providerId, plan, customer.reference)) return refused(soldOutReason)
  const running = held && givesAccess(held, now) ? held : undefined
  if (isPack(plan)) {
    if (running === undefined) return refused(packAloneReason)
    if (await hasMaxPacks(sql, providerId, of, now)) return refused(packsFullReason)
  }
  const decided = decideChange({
    // A pack changes no plan.
    held: isPack(plan) ? undefined : running,
    plan,
    isFirstCharge,
    currency: request.currency,
    at: now,
    periodDiscounts: lastDiscounts,
  })
  if (request.couponRef !== undefined && decided.kind !== 'own-period') {
    return couponRefused('within_period')
  }
  if (decided.kind === 'at-renewal') {
    return refused(`The change to plan ${planRef} is made at the next renewal: activate it`)
  }
  if (decided.kind === 'too-early') return refused(tooEarlyReason(decided))
  if (decided.kind === 'now') {
    const { change } = decided
    const rate = await findExchangeRate(sql, providerId, change.currency)
    const decision = decideSwitchTerms(plan, change, rate)
    if (decision.kind === 'refuse') return refused(decision.reason)
    const fromPurchaseRef = change.from.reference
    const planSwitch = { fromPurchaseRef, changedAt: now.toISOString(), isFirst: isFirstCharge }
    return { kind: 'untaxed', plan, cycleMode, terms: decision.terms, planSwitch }
  }
  const sale = { ...of, purchaseRef: running?.reference ?? null }
  const own = offerOwnPeriod(plan, state, now)
  const period = { plan: own, cycleMode, isFirstCharge, sale }
  return priceNewPeriod({ sql, providerId, now }, request, period)
}

type NewPeriod = Pick<PricedRequest, 'cycleMode'> & {
  readonly plan: Plan
  readonly isFirstCharge: boolean
  readonly sale: Omit<DiscountedPurchase, 'currency'>
}

/** Prices a plan that begins a period of its own, or is bought once, with the discounts of the customer. */
async function priceNewPeriod(
  at: ReadingAt,
  { currency, amountMinor, couponRef }: PaymentRequest,
  { plan, cycleMode, isFirstCharge, sale }: NewPeriod,
): Promise<Untaxed> {
  const rates = new Map<string, ExchangeRate | undefined>()
  for (const code of currenciesOf(plan)) {
    rates.set(code, await findExchangeRate(at.sql, at.providerId, code))
  }
  if (isCreditBased(plan) && couponRef !== undefined) return couponRefused('out_of_scope')
  const sold = { ...sale, currency: currency ?? plan.currency }
  const read = await readSaleDiscounts(at, sold, couponRef)
  if (read.kind === 'fault') return couponRefused(read.fault)
  const payment = { plan, currency, amountMinor, isFirstCharge, discounts: discountsOfSale(read) }
  const decision = decidePlanTerms(payment, (code) => rates.get(code))
  if (decision.kind === 'refuse') {
    const { reason } = decision
    // `startDiscountedPlan` starts the other plans without a payment.
    const needsPayment = isPack(plan) || sold.currency !== plan.currency
    if (!needsPayment || reason !== discountedAwayReason) return refused(reason)
    return couponRef === undefined ? refused(tooLittleLeftReason) : couponRefused('nothing_left')
  }
  const discounts = intentDiscountsOf(read, decision.discounts ?? [])
  return { kind: 'untaxed', plan, cycleMode, terms: decision.terms, discounts }
}

async function addTax(
  reading: ReadingAt,
  { name: sellerName }: Provider,
  { customer, productRef, purpose }: PaymentRequest,
  untaxed: Extract<Untaxed, { kind: 'untaxed' }>,
): Promise<PriceOutcome> {
  const { plan, terms } = untaxed
  const sale = {
    customerRef: customer.reference,
    // A top-up belongs to no product, even if the request names one.
    productRef: purpose === 'credit_topup' ? null : (productRef ?? null),
    plan: plan ?? null,
    currency: terms.currency,
    lines: [paymentLine(plan === undefined ? 'credits' : 'plan', terms.originalAmountMinor)],
  }
  const tax = await findTax(reading, sale)
  const reason = tax === null ? undefined : totalTooLargeReason(tax, terms.currency)
  return reason === undefined ? { ...untaxed, kind: 'priced', tax, sellerName } : refused(reason)
}

function refused(reason: string): RefusedRequest {
  return { kind: 'refused', reason }
}

/** Returns the refusal of a request whose coupon cannot be redeemed. */
export function couponRefused(couponFault: CouponFault): RefusedRequest {
  const reason = `The coupon cannot be redeemed: ${couponFaultReasons[couponFault]}`
  return { kind: 'refused', reason, couponFault }
}
