import type { ValidationIssue } from '@tollgate/schemas/http/errors'
import { formatMoney } from '../money/currencies.ts'
import { microsOfDecimal } from '../money/decimal.ts'
import { chargeMinMinor } from '../money/processor-amounts.ts'
import { priceUsage } from '../pricing/price-usage.ts'
import { costsSomething, usageTermsOf, type UsageTerms } from '../pricing/usage-terms.ts'
import { isCreditBased, type Plan } from '../plans/plan.ts'
import { mainOption } from '../plans/pricing-options.ts'
import { fieldFault } from '../plans/field-fault.ts'
import { tierFaults } from '../plans/tier-faults.ts'

export type PricedPlan = Pick<
  Plan,
  'type' | 'priceMinor' | 'basePriceMinor' | 'setupFeeMinor' | 'currency' | 'terms'
>

/**
 * Returns the faults of a plan's prices, by request field: prices that are never charged, tiers that omit units or
 * count them twice, and amounts that are too small to be charged. A plan without faults charges each price that it
 * names (see docs/decisions/plans.md, A plan charges every price that it names).
 */
export function priceFaults(plan: PricedPlan): ValidationIssue[] {
  const lists = priceLists(plan)
  return [
    ...lists.flatMap((list) => unchargedPrices(plan, list)),
    ...repeatedCurrencies(plan),
    ...unchargedRates(plan),
    ...tierFaults(plan.terms.usageTiers ?? []),
    ...unreachedRates(plan),
    ...lists.flatMap((list) => amountsBelowMinimum(plan, list)),
  ]
}

/** Prices in one currency, and their paths in the request. */
type PriceList = {
  readonly at: (field: 'price' | 'basePrice' | 'setupFee') => ValidationIssue['path']
  readonly currency: string
  readonly price: number
  readonly basePrice: number | null
  readonly setupFee: number | null
}

function priceLists(plan: PricedPlan): PriceList[] {
  const { priceMinor: price, basePriceMinor: basePrice, setupFeeMinor: setupFee } = plan
  const own = { currency: plan.currency, price, basePrice, setupFee }
  const options = plan.terms.pricingOptions ?? []
  if (options.length === 0) return [{ ...own, at: (field) => [field] }]
  const main = mainOption(options)
  return options.map((option, index) => {
    const at: PriceList['at'] = (field) =>
      option[field] === undefined ? [field] : ['pricingOptions', index, field]
    // The plan's own prices mirror its main option. They also supply the prices that the option omits.
    if (option === main) return { ...own, at }
    const { currency, basePrice: base = null, setupFee: fee = null } = option
    return { at, currency, price: option.price, basePrice: base, setupFee: fee }
  })
}

function unchargedPrices(plan: PricedPlan, list: PriceList): ValidationIssue[] {
  const { at, price, setupFee } = list
  const basePrice = list.basePrice ?? 0
  const faults: ValidationIssue[] = []
  if (plan.type !== 'hybrid' && basePrice > 0) {
    faults.push(fieldFault(at('basePrice'), 'Only hybrid plans charge `basePrice`. Use `price`.'))
  }
  if (plan.type === 'hybrid' && list.basePrice !== null && price > 0 && price !== basePrice) {
    const message = 'A hybrid plan charges `basePrice` for each period. Leave out `price`.'
    faults.push(fieldFault(at('price'), message))
  }
  if (plan.type !== 'usage-based') return faults
  if ((setupFee ?? 0) > 0) {
    faults.push(
      fieldFault(at('setupFee'), 'Usage-based plans charge for usage, and no `setupFee`.'),
    )
  }
  if (price === 0 || isCreditBased(plan)) return faults
  if (plan.terms.billingModel === 'post-paid') {
    const message =
      'A post-paid plan charges for usage alone. Use `creditsPerUnit`, or a hybrid plan with `basePrice`.'
    return [...faults, fieldFault(at('price'), message)]
  }
  const message = '`price` buys credits, and usage costs none. Set `creditsPerUnit`.'
  return [...faults, fieldFault(at('price'), message), fieldFault(['creditsPerUnit'], message)]
}

function repeatedCurrencies({ terms }: PricedPlan): ValidationIssue[] {
  const currencies = (terms.pricingOptions ?? []).map(({ currency }) => currency.toUpperCase())
  return currencies.flatMap((currency, index) => {
    if (currencies.indexOf(currency) === index) return []
    const message = `${currency} has another option. Give each currency one.`
    return [fieldFault(['pricingOptions', index, 'currency'], message)]
  })
}

const overageRatePath = ['overagePolicy', 'overageRate']

/** Returns faults of unit prices that are never charged, whatever is used. */
function unchargedRates(plan: PricedPlan): ValidationIssue[] {
  const { creditsPerUnit = 0, usageTiers = [], overagePolicy = {} } = plan.terms
  const { overageRate, allowOverage = false } = overagePolicy
  const hasTierRate = usageTiers.some((tier) => tier.creditsPerUnit > 0)
  const isMetered = plan.type === 'usage-based' || plan.type === 'hybrid'
  const faults: ValidationIssue[] = []
  if (!isMetered) {
    const message = 'Only usage-based and hybrid plans charge for units.'
    if (creditsPerUnit > 0) faults.push(fieldFault(['creditsPerUnit'], message))
    if (hasTierRate) faults.push(fieldFault(['usageTiers'], message))
  } else if (usageTiers.length > 0 && creditsPerUnit > 0) {
    const message =
      'Units are charged by `creditsPerUnit` or by `usageTiers`. Leave out one of them.'
    faults.push(fieldFault(['creditsPerUnit'], message), fieldFault(['usageTiers'], message))
  } else if (
    plan.type === 'usage-based' &&
    plan.terms.billingModel !== 'post-paid' &&
    hasTierRate
  ) {
    const message =
      'A pre-paid plan charges `creditsPerUnit` for each unit. Set it instead of `usageTiers`.'
    faults.push(fieldFault(['creditsPerUnit'], message), fieldFault(['usageTiers'], message))
  }
  // Tiers take precedence over the overage rate. Published plans contain both.
  if ((overageRate ?? 0) > 0 && !(plan.type === 'hybrid' && allowOverage)) {
    const message = 'Only hybrid plans with `allowOverage` charge `overageRate`.'
    faults.push(fieldFault(overageRatePath, message))
  }
  const isReplaced = plan.type === 'hybrid' && allowOverage && overageRate !== undefined
  if (isReplaced && creditsPerUnit > 0) {
    const message = 'Units above the limit cost `overageRate`. Leave out `creditsPerUnit`.'
    faults.push(fieldFault(['creditsPerUnit'], message), fieldFault(overageRatePath, message))
  }
  return faults
}

/** Returns a fault if units have a price but none is ever charged, because the included units reach up to the limit. */
function unreachedRates(plan: PricedPlan): ValidationIssue[] {
  const terms = usageTermsOf(plan)
  if (terms === undefined || plan.terms.rolloverUnusedUnits === true) return []
  if (!costsSomething(terms) || chargesAnyUsage(terms)) return []
  const message = 'No unit that costs credits is reached before the `limit`.'
  return [fieldFault(['limit'], message), fieldFault(['freeUnits'], message)]
}

/** More units than any period can use, in 10^-6 units. */
const farMicros = 10n ** 30n

function chargesAnyUsage(terms: UsageTerms): boolean {
  const { limit, freeUnits, overage, rate } = terms
  const includedMicros = overage === undefined || limit === null ? 0n : microsOfDecimal(limit)
  const unpricedMicros = microsOfDecimal(freeUnits) + includedMicros
  const ends = rate.kind === 'flat' ? [] : rate.tiers.map(({ upTo }) => upTo)
  // With volume pricing, an expensive tier may come before a free one. So the price is computed at the end of each
  // tier.
  const amounts = ends.map((end) =>
    end === null ? farMicros : unpricedMicros + microsOfDecimal(end),
  )
  return [...amounts, farMicros].some((micros) => priceUsage(terms, { usedMicros: micros }) > 0n)
}

/** Returns faults of amounts that must be paid at once but are below the processor's minimum. */
function amountsBelowMinimum(plan: PricedPlan, list: PriceList): ValidationIssue[] {
  const { at, currency, price, setupFee } = list
  const hasBasePrice = plan.type === 'hybrid' && list.basePrice !== null
  const [field, amount] = hasBasePrice
    ? (['basePrice', list.basePrice] as const)
    : (['price', price] as const)
  const due = amount === 0 ? (['setupFee', setupFee ?? 0] as const) : ([field, amount] as const)
  const leastMinor = chargeMinMinor(currency)
  if (due[1] === 0 || BigInt(due[1]) >= leastMinor) return []
  const least = formatMoney(leastMinor, currency)
  return [fieldFault(at(due[0]), `At least ${least} can be charged at once.`)]
}
