import type { PlanSnapshot } from '../plans/plan-snapshot.ts'

/** What a plan asks for in one currency, beside its usage. Minor units. */
export type PlanPrices = {
  readonly currency: string
  /** Of each period; of the purchase, for a one-time plan. */
  readonly priceMinor: bigint
  /** With the first charge only. */
  readonly setupFeeMinor: bigint
}

type PricedPlan = Pick<
  PlanSnapshot,
  'type' | 'priceMinor' | 'basePriceMinor' | 'setupFeeMinor' | 'currency' | 'terms'
>

/** Undefined where the plan is not sold in the currency, which is upper case. */
export function pricesIn(plan: PricedPlan, currency: string): PlanPrices | undefined {
  // The plan's own prices mirror its main option, and fill in what that leaves out.
  if (currency === plan.currency) {
    return {
      currency,
      priceMinor: BigInt(periodPrice(plan, plan.priceMinor, plan.basePriceMinor)),
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

/** Returns the `price` of the plan in a currency, whatever it is charged for. 0 if the plan has none there. */
export function listedPrice(plan: PricedPlan, currency: string): bigint {
  if (currency === plan.currency) return BigInt(plan.priceMinor)
  const option = plan.terms.pricingOptions?.find((each) => each.currency === currency)
  return BigInt(option?.price ?? 0)
}

export function currenciesOf(plan: PricedPlan): string[] {
  const options = plan.terms.pricingOptions ?? []
  return [...new Set([plan.currency, ...options.map(({ currency }) => currency)])]
}

/** The plan as it is for a customer who has paid its set-up fee. */
export function withoutSetupFee(plan: PlanSnapshot): PlanSnapshot {
  const options = plan.terms.pricingOptions?.map(({ setupFee: _, ...option }) => option)
  const terms = options === undefined ? plan.terms : { ...plan.terms, pricingOptions: options }
  return { ...plan, setupFeeMinor: null, terms }
}

/** Of a usage-based plan it is the usage that costs, of a hybrid one the base price comes before it. */
function periodPrice(plan: PricedPlan, price: number, basePrice: number | null): number {
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
