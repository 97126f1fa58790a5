import { topUpMinorMax, topUpMinorMin } from '@tollgate/schemas/limits'
import type { Discount } from '../coupons/coupon.ts'
import { discountLines, type DiscountLine } from '../coupons/discount-lines.ts'
import { creditsPerMinorUnit, purchasedCredits } from '../money/credits.ts'
import { majorText, minorPerMajor, processorMinimumOf } from '../money/currencies.ts'
import { divideRounded } from '../money/decimal.ts'
import { dollarCents, dollarsPerUnit } from '../money/dollar-amount.ts'
import { toFraction, type ExchangeRate } from '../money/exchange-rates.ts'
import { isBoughtOnce } from '../packs/pack-terms.ts'
import { chargeMinorMax } from '../payments/taxed-terms.ts'
import { isCreditBased, type Plan } from '../plans/plan.ts'
import { totalOf } from '../pricing/invoice-line.ts'
import { currenciesOf, listedPrice, pricesIn } from '../pricing/plan-prices.ts'
import { needsNoPayment, type PlanSwitch } from '../purchases/decide-switch.ts'

/** Amounts of a payment. */
export type IntentTerms = {
  /** Amount in USD cents. */
  readonly amountMinor: bigint
  /** Amount in minor units of `currency`. */
  readonly originalAmountMinor: bigint
  readonly currency: string
  readonly exchangeRate: string
  /** Whole credits that the payment buys, null if it buys none. */
  readonly credits: bigint | null
}

export type TermsDecision =
  | {
      readonly kind: 'charge'
      readonly terms: IntentTerms
      /** What discounts take off the price. */
      readonly discounts?: readonly DiscountLine[]
    }
  | { readonly kind: 'refuse'; readonly reason: string }

export type PlanPayment = {
  readonly plan: Plan
  /** Currency in upper case; undefined for the plan's own currency. */
  readonly currency: string | undefined
  /** Amount that the customer adds to the wallet of a credit plan, in minor units. */
  readonly amountMinor: bigint | undefined
  /** Whether the customer has not paid for a purchase of the plan before, so that the set-up fee is due. */
  readonly isFirstCharge: boolean
  /** Discounts of the price, oldest first. Credits are not discounted. */
  readonly discounts?: readonly Pick<Discount, 'reference' | 'coupon'>[]
}

/**
 * Reason to refuse a payment if the discounted price is too small to charge, or if a pack or a plan that renews costs nothing. A plan
 * begins without a payment in its own currency.
 */
export const discountedAwayReason = 'The discounted price needs no payment'

/** Reason to refuse what is sold only for a payment: a pack, or a plan in another currency than its own. */
export const tooLittleLeftReason = 'Discounts leave less of the price than can be charged'

/**
 * Returns the amounts of a payment for a plan, or why it is refused. `rateOf` returns undefined for a currency without an exchange
 * rate.
 */
export function decidePlanTerms(
  { plan, currency = plan.currency, amountMinor, isFirstCharge, discounts = [] }: PlanPayment,
  rateOf: (currency: string) => ExchangeRate | undefined,
): TermsDecision {
  const prices = pricesIn(plan, currency)
  const rate = rateOf(currency)
  if (prices === undefined || rate === undefined) {
    return refuse(notSupported(currency, currenciesOf(plan)))
  }
  const dueMinor = prices.priceMinor + (isFirstCharge ? prices.setupFeeMinor : 0n)
  if (isCreditBased(plan)) {
    const perUnit = BigInt(plan.terms.creditsPerUnit ?? 0)
    const requestedMinor = amountMinor ?? firstTopUp(plan, rate) ?? smallestTopUp(perUnit, rate)
    return charge(requestedMinor, rate, { mints: true })
  }
  if (dueMinor === 0n) return refuse(`Plan ${plan.reference} needs no payment: activate it`)
  const taken = discountLines(dueMinor, discounts)
  const leftMinor = dueMinor + totalOf(taken.map(({ line }) => line))
  if (taken.length > 0 && leftMinor < processorMinimumOf(currency)) {
    // What renews starts with a saved card. A pack can be bought again, so for nothing it would be sold without limit.
    const isSoldForNothing = leftMinor === 0n && isBoughtOnce(plan)
    if (!isSoldForNothing) return refuse(discountedAwayReason)
    return { kind: 'charge', terms: termsOf(leftMinor, rate, null), discounts: taken }
  }
  const decision = charge(leftMinor, rate, { mints: false })
  return decision.kind === 'refuse' ? decision : { ...decision, discounts: taken }
}

/** Returns the amounts of a payment for a change of plan within a paid period, or why it is refused. */
export function decideSwitchTerms(
  { reference }: Plan,
  change: PlanSwitch,
  rate: ExchangeRate | undefined,
): TermsDecision {
  const { currency, lines } = change
  if (rate === undefined) return refuse(`Nobody knows what ${currency} is worth`)
  if (needsNoPayment(change)) {
    return refuse(`The change to plan ${reference} needs no payment now: activate it`)
  }
  return charge(totalOf(lines), rate, { mints: false })
}

export type TopUpPayment = {
  readonly amountMinor: bigint | undefined
  readonly currency: string
  readonly supportedCurrencies: readonly string[]
}

/** Returns the amounts of a top-up that a customer requests, or why it is refused. Automatic recharges have limits of their own. */
export function decideRequestedTopUpTerms(
  payment: TopUpPayment,
  rate: ExchangeRate | undefined,
): TermsDecision {
  const decision = decideTopUpTerms(payment, rate)
  if (decision.kind === 'refuse') return decision
  const { originalAmountMinor, currency } = decision.terms
  const [leastMinor, mostMinor] = [BigInt(topUpMinorMin), BigInt(topUpMinorMax)]
  if (originalAmountMinor < leastMinor) return tooSmall(leastMinor, currency)
  if (originalAmountMinor > mostMinor) return tooLarge(mostMinor, currency)
  return decision
}

export function decideTopUpTerms(
  { amountMinor, currency, supportedCurrencies }: TopUpPayment,
  rate: ExchangeRate | undefined,
): TermsDecision {
  if (rate === undefined || !supportedCurrencies.includes(currency)) {
    return refuse(notSupported(currency, supportedCurrencies))
  }
  if (amountMinor === undefined) return refuse('amount is required for a credit top-up')
  return charge(amountMinor, rate, { mints: true })
}

function charge(
  originalAmountMinor: bigint,
  rate: ExchangeRate,
  { mints }: { readonly mints: boolean },
): TermsDecision {
  const { currency } = rate
  const minimumMinor = processorMinimumOf(currency)
  if (originalAmountMinor < minimumMinor) {
    return tooSmall(minimumMinor, currency)
  }
  if (originalAmountMinor > chargeMinorMax) return tooLarge(chargeMinorMax, currency)
  const minted = mints ? purchasedCredits(originalAmountMinor, currency, toFraction(rate)) : 0n
  const credits = minted > 0n ? minted : null
  return { kind: 'charge', terms: termsOf(originalAmountMinor, rate, credits) }
}

function termsOf(
  originalAmountMinor: bigint,
  rate: ExchangeRate,
  credits: bigint | null,
): IntentTerms {
  const { currency } = rate
  const exchangeRate = dollarsPerUnit(rate)
  const amountMinor = dollarCents(originalAmountMinor, currency, exchangeRate)
  return { amountMinor, originalAmountMinor, currency, exchangeRate, credits }
}

/**
 * Returns the plan's price for its first credits. Undefined if there is none, or if it is below the processor's minimum, as in old
 * plans.
 */
function firstTopUp(plan: Plan, { currency }: ExchangeRate): bigint | undefined {
  const listedMinor = listedPrice(plan, currency)
  return listedMinor >= processorMinimumOf(currency) ? listedMinor : undefined
}

/** Returns the processor's minimum, or the first amount above it that buys whole units. */
function smallestTopUp(creditsPerUnit: bigint, rate: ExchangeRate): bigint {
  const minimumMinor = processorMinimumOf(rate.currency)
  const unitsPerDollar = toFraction(rate)
  const minimumCredits = purchasedCredits(minimumMinor, rate.currency, unitsPerDollar)
  // Charges have several prices, with fractions of a credit.
  if (creditsPerUnit === 0n) return minimumMinor
  const units = ceilDivide(minimumCredits, creditsPerUnit)
  const cents = ceilDivide(units * creditsPerUnit, creditsPerMinorUnit)
  const minor = divideRounded(
    cents * minorPerMajor(rate.currency) * unitsPerDollar.numerator,
    100n * unitsPerDollar.denominator,
  )
  return minor > minimumMinor ? minor : minimumMinor
}

function ceilDivide(dividend: bigint, divisor: bigint): bigint {
  return (dividend + divisor - 1n) / divisor
}

function notSupported(currency: string, available: readonly string[]): string {
  return `Currency ${currency} is not supported. Available: ${available.join(', ')}`
}

function tooSmall(leastMinor: bigint, currency: string): TermsDecision {
  return refuse(`The amount must be at least ${majorText(leastMinor, currency)} ${currency}`)
}

function tooLarge(mostMinor: bigint, currency: string): TermsDecision {
  return refuse(`The amount must not exceed ${majorText(mostMinor, currency)} ${currency}`)
}

function refuse(reason: string): TermsDecision {
  return { kind: 'refuse', reason }
}
