import type { AgreedPrice } from '@tollgate/schemas/http/agreed-prices'
import type { Charge } from '@tollgate/schemas/http/charges'
import type { ValidationIssue } from '@tollgate/schemas/http/errors'
import { usageLimitFaults, type ChargeableMeters } from '../catalog/charge-faults.ts'
import { withOwnPrices } from '../catalog/own-prices.ts'
import { currencyFaults, rampFaults } from '../catalog/ramp-faults.ts'
import { chargeKey, usageLimitKey } from '../plans/charge-key.ts'
import { faultsUnder, fieldFault } from '../plans/field-fault.ts'
import type { PlanCore } from '../plans/plan.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import { applyOverrides } from './apply-overrides.ts'
import { isRemoved, limitsToSet, type Overrides } from './overrides.ts'

/** What overrides of a customer can apply to. */
export type OverridableProduct = {
  /** The plan of the customer's purchase, as it was bought. Undefined if no purchase gives access. */
  readonly held: PlanSnapshot | undefined
  /** Plans of the product that can be bought. */
  readonly plans: readonly PlanSnapshot[]
  /** The meters that the limits name. */
  readonly meters: ChargeableMeters
}

/**
 * Returns the faults of overrides, by request field. Overrides without faults have an effect on the plan that the customer has, or, for
 * charges that this plan does not have, on another plan of the product.
 */
export function overrideFaults(
  overrides: Overrides,
  { held, plans, meters }: OverridableProduct,
): ValidationIssue[] {
  const all = [...(held === undefined ? [] : [held]), ...plans]
  const priced = agreedPriceFaults(overrides.prices ?? [], all)
  if (all.every(({ terms }) => terms.charges === undefined)) {
    return [...withoutCharges(overrides), ...priced]
  }
  return [
    ...priced,
    ...repeatedCharges(overrides),
    ...overrides.charges.flatMap((_, index) => chargeFaults(overrides, index, held, plans)),
    ...setLimitFaults(overrides, held?.terms.charges ?? [], meters),
    ...removedLimitFaults(overrides, all),
  ]
}

/** Prices must fit the plan as the customer has it, or as it can be bought now. */
function agreedPriceFaults(
  prices: readonly AgreedPrice[],
  plans: readonly PlanSnapshot[],
): ValidationIssue[] {
  return prices.flatMap((price, index) => {
    const path = ['prices', index]
    const named = plans.filter(({ reference }) => reference === price.planRef)
    if (named.length === 0) {
      return [
        fieldFault([...path, 'planRef'], `The product has no plan ${price.planRef} on offer.`),
      ]
    }
    const faults = named.map((plan) => priceFaultsOn(plan, price))
    const fewest = faults.some((each) => each.length === 0) ? [] : faults.at(-1)!
    return faultsUnder(path, [...termFaults(price), ...fewest])
  })
}

/**
 * Returns the agreed prices with their currencies: that of the plan which the prices fit, as the customer has it or as it can be bought
 * now. If both fit and have different currencies, the request has to say which one is meant.
 */
export function withCurrencies(
  prices: readonly AgreedPrice[],
  plans: readonly PlanSnapshot[],
): { readonly prices: readonly AgreedPrice[]; readonly faults: readonly ValidationIssue[] } {
  const faults: ValidationIssue[] = []
  const named = prices.map((price, index): AgreedPrice => {
    if (price.currency !== undefined) return { ...price, currency: price.currency.toUpperCase() }
    const fitting = plans.filter(
      (plan) => plan.reference === price.planRef && priceFaultsOn(plan, price).length === 0,
    )
    const currencies = [...new Set(fitting.map(({ currency }) => currency))]
    const [currency] = currencies
    if (currency === undefined) return price
    if (currencies.length > 1) {
      const message = `The customer has the plan in another currency than it has now. Set ${currencies.join(' or ')}.`
      faults.push(fieldFault(['prices', index, 'currency'], message))
    }
    return { ...price, currency }
  })
  return { prices: named, faults }
}

function termFaults({
  from,
  until,
  planRef: _planRef,
  currency: _currency,
  ...prices
}: AgreedPrice): ValidationIssue[] {
  if (from !== undefined && until !== undefined && Date.parse(from) >= Date.parse(until)) {
    return [fieldFault(['until'], '`until` must be after `from`.')]
  }
  if (Object.values(prices).some((each) => each !== undefined)) return []
  return [fieldFault([], 'Set at least one price.')]
}

function priceFaultsOn(
  plan: PlanSnapshot,
  { planRef: _planRef, from: _from, until: _until, currency, ramp = [], ...prices }: AgreedPrice,
): ValidationIssue[] {
  if (currency !== undefined && currency !== plan.currency) {
    return [fieldFault(['currency'], `The plan is sold in ${plan.currency}.`)]
  }
  return [
    ...currencyFaults(plan),
    ...withOwnPrices(plan, prices, plan).faults,
    ...faultsUnder(['ramp'], rampFaults(plan, ramp)),
  ]
}

function withoutCharges({ charges, usageLimits }: Overrides): ValidationIssue[] {
  const message = 'No plan of the product has `charges`, so this has no effect.'
  return [
    ...(charges.length === 0 ? [] : [fieldFault(['charges'], message)]),
    ...(usageLimits.length === 0 ? [] : [fieldFault(['usageLimits'], message)]),
  ]
}

/** Returns the faults of the limits that are set, with their places in the request. */
function setLimitFaults(
  { usageLimits }: Overrides,
  charges: readonly Charge[],
  meters: ChargeableMeters,
): ValidationIssue[] {
  const places = [...usageLimits.keys()].filter((index) => !isRemoved(usageLimits[index]!))
  return usageLimitFaults(limitsToSet(usageLimits), charges, meters).map((issue) => {
    const [list, at, ...field] = issue.path
    return { ...issue, path: [list!, places[Number(at)]!, ...field] }
  })
}

/** A limit can be removed that the customer's plan has, or another plan of the product. */
function removedLimitFaults(
  { usageLimits }: Overrides,
  plans: readonly PlanCore[],
): ValidationIssue[] {
  const known = new Set(plans.flatMap(({ terms }) => (terms.usageLimits ?? []).map(usageLimitKey)))
  const taken = new Set(limitsToSet(usageLimits).map(usageLimitKey))
  return usageLimits.flatMap((limit, index) => {
    if (!isRemoved(limit)) return []
    const { key } = limit
    const fault = (message: string) => [fieldFault(['usageLimits', index, 'key'], message)]
    if (taken.has(key)) return fault(`The limit ${key} is listed twice.`)
    taken.add(key)
    if (known.has(key)) return []
    return fault(
      `No plan of the product has a limit with the key ${key}. The cap of a charge is removed with a \`cap\` of 0 in \`charges\`.`,
    )
  })
}

function repeatedCharges({ charges }: Overrides): ValidationIssue[] {
  const keys = charges.map(({ charge }) => charge)
  return keys.flatMap((key, index) => {
    if (keys.indexOf(key) === index) return []
    return [fieldFault(['charges', index, 'charge'], `The charge ${key} is listed twice.`)]
  })
}

function chargeFaults(
  overrides: Overrides,
  index: number,
  held: PlanCore | undefined,
  plans: readonly PlanCore[],
): ValidationIssue[] {
  const { charge: key } = overrides.charges[index]!
  const hasKey = ({ terms }: PlanCore): boolean =>
    (terms.charges ?? []).some((charge) => chargeKey(charge) === key)
  const deciding = held !== undefined && hasKey(held) ? [held] : plans.filter(hasKey)
  if (deciding.length === 0) {
    const message = `No plan of the product has a charge with the key ${key}.`
    return [fieldFault(['charges', index, 'charge'], message)]
  }
  const faults = deciding.map((plan) =>
    applyOverrides(plan, { pricing: overrides, limiting: overrides }).faults.filter(
      ({ path }) => path[1] === index,
    ),
  )
  return faults.some((each) => each.length === 0) ? [] : faults[0]!
}
