import { chargedBefore } from '../plans/add-ons.ts'
import type { PlanTerms } from '../plans/plan.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'

/** Prices of a plan in one currency, without usage. Minor units. */
export type PlanPrices = {
  readonly currency: string
  /** Price of each period; for a one-time plan, price of the purchase. */
  readonly priceMinor: bigint
  /** Charged with the first charge only. */
  readonly setupFeeMinor: bigint
}

type PricedPlan = Pick<
  PlanSnapshot,
  'type' | 'priceMinor' | 'basePriceMinor' | 'setupFeeMinor' | 'currency' | 'terms'
>

/** Returns the plan's prices in a currency (upper case), undefined if it is not sold in that currency. */
export function pricesIn(plan: PricedPlan, currency: string): PlanPrices | undefined {
  // The plan's own prices are those of its main option, and supplement fields that the option leaves out.
  if (currency === plan.currency) {
    return {
      currency,
      priceMinor: BigInt(periodPriceOf(plan)),
      setupFeeMinor: BigInt(plan.setupFeeMinor ?? 0),
    }
  }
  const option = plan.terms.pricingOptions?.find((each) => each.currency === currency)
  if (option === undefined) return undefined
  return {
    currency,
    priceMinor: BigInt(periodPrice(plan, option.price, option.basePrice ?? null)),
    setupFeeMinor: BigInt(option.setupFee ?? 0),
  }
}

/** Returns the plan's `price` in this currency, or 0 if the plan has no price in it. */
export function listedPrice(plan: PricedPlan, currency: string): bigint {
  if (currency === plan.currency) return BigInt(plan.priceMinor)
  const option = plan.terms.pricingOptions?.find((each) => each.currency === currency)
  return BigInt(option?.price ?? 0)
}

export function currenciesOf(plan: PricedPlan): string[] {
  const options = plan.terms.pricingOptions ?? []
  return [...new Set([plan.currency, ...options.map(({ currency }) => currency)])]
}

/** Returns the plan as it applies to a customer who has paid its set-up fee and those of its add-ons. */
export function withoutSetupFee(plan: PlanSnapshot): PlanSnapshot {
  const { addOns } = plan.terms
  const charged = { ...plan, setupFeeMinor: null, terms: withoutFees(plan.terms) }
  if (addOns === undefined) return charged
  const own = { ...addOns.own, setupFeeMinor: null, terms: withoutFees(addOns.own.terms) }
  const attached = chargedBefore(addOns.attached)
  return { ...charged, terms: { ...charged.terms, addOns: { ...addOns, own, attached } } }
}

function withoutFees(terms: PlanTerms): PlanTerms {
  const options = terms.pricingOptions?.map(({ setupFee: _, ...option }) => option)
  return options === undefined ? terms : { ...terms, pricingOptions: options }
}

/** Returns a plan without set-up fees with this fee in the currency, in minor units. */
export function withSetupFee(plan: PlanSnapshot, currency: string, feeMinor: bigint): PlanSnapshot {
  if (feeMinor === 0n) return plan
  const setupFee = Number(feeMinor)
  if (currency === plan.currency) return { ...plan, setupFeeMinor: setupFee }
  const pricingOptions = plan.terms.pricingOptions?.map((option) =>
    option.currency === currency ? { ...option, setupFee } : option,
  )
  return { ...plan, terms: { ...plan.terms, ...(pricingOptions && { pricingOptions }) } }
}

/** Returns the price of a period without usage, or of a one-time plan, in minor units of the plan's own currency. */
export function periodPriceOf(
  plan: Pick<PricedPlan, 'type' | 'priceMinor' | 'basePriceMinor'>,
): number {
  return periodPrice(plan, plan.priceMinor, plan.basePriceMinor)
}

/** A usage-based plan charges only usage. A hybrid plan charges a base price in addition. */
function periodPrice(
  plan: Pick<PricedPlan, 'type'>,
  price: number,
  basePrice: number | null,
): number {
  switch (plan.type) {
    case 'recurring':
    case 'one-time':
      return price
    case 'hybrid':
      return basePrice ?? price
    case 'usage-based':
      return 0
  }
}
