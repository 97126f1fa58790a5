import type { PriceFields } from '@tollgate/schemas/http/agreed-prices'
import type { Charge } from '@tollgate/schemas/http/charges'
import type { ValidationIssue } from '@tollgate/schemas/http/errors'
import { formatMoney } from '../money/currencies.ts'
import { chargeMaxMinor, chargeMinMinor } from '../money/processor-amounts.ts'
import { chargeKey } from '../plans/charge-key.ts'
import { faultsUnder, fieldFault } from '../plans/field-fault.ts'
import type { Plan, PlanCore } from '../plans/plan.ts'
import { tierFaults } from '../plans/tier-faults.ts'
import { periodPriceOf } from '../pricing/plan-prices.ts'
import { billsAfterwards } from '../pricing/usage-terms.ts'
import { withOwnPrice, withOwnPriceFaults } from './own-charge-price.ts'

/*
 * Prices in place of those of a plan: of one customer, or of a step of its ramp. A price replaces one that the plan has, of the same
 * kind. So whether a plan charges for its periods, for its start or for usage is always decided by the plan that everybody buys.
 */

export type PriceablePlan = PlanCore & Pick<Plan, 'setupFeeMinor' | 'currency'>

type Priced<Own> = { readonly plan: Own; readonly faults: readonly ValidationIssue[] }

/**
 * Returns the plan with the prices. A field that does not fit the plan has no effect and is among the faults, by the fields of the
 * prices. `listed`: the plan as everybody buys it, which decides what fits.
 */
export function withOwnPrices<Own extends PriceablePlan>(
  plan: Own,
  prices: PriceFields,
  listed: PriceablePlan,
): Priced<Own> {
  const faults = faultsOf(listed, prices)
  const isRefused = (field: keyof PriceFields) => faults.some(({ path }) => path[0] === field)
  const given = Object.fromEntries(
    Object.entries(prices).filter(([field]) => !isRefused(field as keyof PriceFields)),
  ) as PriceFields
  const charged = withChargePrices(plan, given, listed)
  return {
    plan: withTermPrices(withPeriodPrice(charged.plan, given), given),
    faults: [...faults, ...charged.faults],
  }
}

function withPeriodPrice<Own extends PriceablePlan>(
  plan: Own,
  { price, setupFee }: PriceFields,
): Own {
  return {
    ...plan,
    ...(price === undefined
      ? {}
      : { priceMinor: price, basePriceMinor: plan.type === 'hybrid' ? price : null }),
    ...(setupFee === undefined ? {} : { setupFeeMinor: setupFee }),
  }
}

function withTermPrices<Own extends PriceablePlan>(plan: Own, prices: PriceFields): Own {
  const { creditsPerUnit, overageRate, usageTiers, minimumCommitment } = prices
  const { overagePolicy } = plan.terms
  return {
    ...plan,
    terms: {
      ...plan.terms,
      ...(creditsPerUnit === undefined ? {} : { creditsPerUnit }),
      ...(overageRate === undefined ? {} : { overagePolicy: { ...overagePolicy, overageRate } }),
      ...(usageTiers === undefined ? {} : { usageTiers }),
      ...(minimumCommitment === undefined ? {} : { minimumCommitment }),
    },
  }
}

function withChargePrices<Own extends PriceablePlan>(
  plan: Own,
  { charges: own = [] }: PriceFields,
  listed: PriceablePlan,
): Priced<Own> {
  let charges: readonly Charge[] = plan.terms.charges ?? []
  const faults: ValidationIssue[] = []
  for (const [index, price] of own.entries()) {
    const at = charges.findIndex((each) => chargeKey(each) === price.charge)
    const path = ['charges', index]
    const isRepeated = own.findIndex(({ charge }) => charge === price.charge) !== index
    if (at === -1 || isRepeated) {
      const reason = isRepeated ? 'is listed twice' : 'is not in the plan'
      faults.push(fieldFault([...path, 'charge'], `The charge ${price.charge} ${reason}.`))
      continue
    }
    const changed = withOwnPrice(charges[at]!, price)
    if (changed === undefined) continue
    const issues = withOwnPriceFaults(listed, charges[at]!, changed)
    faults.push(...faultsUnder(path, issues))
    if (issues.length === 0) charges = charges.with(at, changed)
  }
  return { plan: own.length === 0 ? plan : { ...plan, terms: { ...plan.terms, charges } }, faults }
}

function faultsOf(plan: PriceablePlan, prices: PriceFields): ValidationIssue[] {
  return [
    ...startFaults(plan, prices),
    ...unitFaults(plan, prices),
    ...chargeFaults(plan, prices),
    ...minimumFaults(plan, prices),
  ]
}

function startFaults(plan: PriceablePlan, { price, setupFee }: PriceFields): ValidationIssue[] {
  const { currency, setupFeeMinor } = plan
  const faults: ValidationIssue[] = []
  const leastMinor = chargeMinMinor(currency)
  if (price !== undefined && periodPriceOf(plan) === 0) {
    faults.push(
      fieldFault(['price'], 'The plan has no price of a period. Give the plan a price first.'),
    )
  } else if (price === 0 && plan.type === 'one-time') {
    // Without a payment, the customer could take it any number of times.
    faults.push(fieldFault(['price'], 'A one-time plan that has a price is paid. Use a coupon.'))
  } else if (price !== undefined && price > 0 && BigInt(price) < leastMinor) {
    const least = formatMoney(leastMinor, currency)
    faults.push(
      fieldFault(['price'], `At least ${least} can be charged at once. Use 0 for a free period.`),
    )
  }
  if (setupFee !== undefined && (setupFeeMinor ?? 0) === 0) {
    faults.push(
      fieldFault(['setupFee'], 'The plan has no set-up fee. Give the plan a set-up fee first.'),
    )
  }
  return faults
}

/** A unit price has the kind of the plan's, because the kind decides how units are counted. */
function unitFaults(plan: PriceablePlan, prices: PriceFields): ValidationIssue[] {
  const { creditsPerUnit = 0, overagePolicy, usageTiers = [] } = plan.terms
  const hasTiers = usageTiers.length > 0
  const overageRate = overagePolicy?.allowOverage === true ? (overagePolicy.overageRate ?? 0) : 0
  const kinds = [
    ['creditsPerUnit', !hasTiers && creditsPerUnit > 0],
    ['overageRate', !hasTiers && plan.type === 'hybrid' && overageRate > 0],
    ['usageTiers', hasTiers],
  ] as const
  return kinds.flatMap(([field, isOfPlan]) => {
    if (prices[field] === undefined) return []
    if (!billsAfterwards(plan)) return [fieldFault([field], prePaidText)]
    if (!isOfPlan) return [fieldFault([field], `The plan has no price in \`${field}\`.`)]
    if (hasUnbilledLimit(plan)) return [fieldFault([field], unbilledText)]
    return field === 'usageTiers' ? tierFaults([...(prices.usageTiers ?? [])]) : []
  })
}

const prePaidText =
  'Only usage that is billed afterwards can have another price here. Use `charges` of the overrides for a pre-paid plan.'
const unbilledText =
  'The plan limits unbilled usage to a number of units by its own price. Remove `maxUnbilledMinor` first.'

function chargeFaults(plan: PriceablePlan, { charges = [] }: PriceFields): ValidationIssue[] {
  if (charges.length === 0) return []
  const fault = (message: string) => [fieldFault(['charges'], message)]
  if (plan.terms.charges === undefined) return fault('The plan has no `charges`.')
  if (!billsAfterwards(plan)) return fault(prePaidText)
  if (hasUnbilledLimit(plan)) return fault(unbilledText)
  const isSpendLimited = (plan.terms.usageLimits ?? []).some(
    ({ unit }) => unit === 'credits' || unit === 'money',
  )
  return isSpendLimited
    ? fault('The plan has limits in credits or money, which count units by its own prices.')
    : []
}

function minimumFaults(
  plan: PriceablePlan,
  { minimumCommitment: minor }: PriceFields,
): ValidationIssue[] {
  if (minor === undefined) return []
  const fault = (message: string) => [fieldFault(['minimumCommitment'], message)]
  if ((plan.terms.minimumCommitment ?? 0) === 0)
    return fault('The plan has no minimum. Give the plan one first.')
  const [least, most] = [chargeMinMinor(plan.currency), chargeMaxMinor(plan.currency)]
  if (minor === 0 || (minor >= least && minor <= most)) return []
  return fault(
    `Use 0, or an amount that can be charged in ${plan.currency}: from ${least} to ${most}.`,
  )
}

function hasUnbilledLimit({ terms }: PlanCore): boolean {
  return (terms.maxUnbilledMinor ?? 0) > 0
}
