import type { Charge } from '@tollgate/schemas/http/charges'
import type { ValidationIssue } from '@tollgate/schemas/http/errors'
import { toolMeterPrefix } from '@tollgate/schemas/http/mcp'
import type { UsageLimit } from '@tollgate/schemas/http/usage-limits'
import { chargeKey, usageLimitKey } from '../plans/charge-key.ts'
import { faultsUnder, fieldFault } from '../plans/field-fault.ts'
import { isPrePaid, type Plan, type PlanCore } from '../plans/plan.ts'
import type { Meter } from '../meters/repository.ts'
import { dimensionFaults } from './charge-dimension-faults.ts'
import { spendLimitFaults } from './spend-limit-faults.ts'
import { chargePriceFaults, type ChargedUsage } from './charge-price-faults.ts'

/** Facts about a meter that decide whether a charge may name it. */
type ChargeableMeter = Pick<Meter, 'status'> & {
  readonly aggregation: string
  /** Properties whose values are stored with the records. */
  readonly dimensions: readonly string[]
  /** The meter counts calls of models without a price as nothing. */
  readonly mayBeUnpriced?: boolean
}

/** The provider's meters by name. */
export type ChargeableMeters = ReadonlyMap<string, ChargeableMeter>

type ChargedPlan = Pick<Plan, 'type' | 'priceMinor' | 'basePriceMinor' | 'currency' | 'terms'>

/**
 * Returns the faults of a plan's charges, by request field. A plan without faults charges each price that its charges name, and its
 * charges count only what is known for every record (see docs/decisions/rate-cards.md, Charges).
 */
export function chargeFaults(plan: ChargedPlan, meters: ChargeableMeters): ValidationIssue[] {
  const { charges } = plan.terms
  if (charges === undefined) return limitsWithoutCharges(plan)
  return [
    ...usageLimitFaults(plan.terms.usageLimits ?? [], charges, meters),
    ...replacedFields(plan),
    ...repeatedKeys(charges),
    ...repeatedAllowances(charges),
    ...foreignCurrencies(plan, charges),
    ...charges.flatMap((charge, index) =>
      faultsUnder(
        ['charges', index],
        [
          ...meterFaults(charge, meters.get(charge.meter)),
          ...dimensionFaults(charge, meters.get(charge.meter)?.dimensions),
          ...chargePriceFaults(charge, chargedUsage(plan)),
          ...limitFaults(charge, plan),
        ],
      ),
    ),
  ]
}

/** Returns which usage the charges of the plan price. */
export function chargedUsage(plan: PlanCore): ChargedUsage {
  if (plan.type === 'recurring' || plan.type === 'one-time') return 'none'
  return isPrePaid(plan) ? 'wallet' : 'billed'
}

/** The fields that price and limit `requests` have no effect on a plan with charges. 0 and absent mean the same. */
function replacedFields({ terms }: ChargedPlan): ValidationIssue[] {
  const { allowOverage = false, overageRate = 0, maxOverage = 0 } = terms.overagePolicy ?? {}
  const given: readonly (readonly [ValidationIssue['path'], boolean])[] = [
    [['creditsPerUnit'], (terms.creditsPerUnit ?? 0) > 0],
    [['usageTiers'], (terms.usageTiers ?? []).length > 0],
    [['usageTierMode'], terms.usageTierMode !== undefined],
    [['freeUnits'], (terms.freeUnits ?? 0) > 0],
    [['limit'], (terms.limit ?? 0) > 0],
    [['limits', 'maxTransactions'], Boolean(terms.limits?.['maxTransactions'])],
    [['overagePolicy'], allowOverage || overageRate > 0 || maxOverage > 0],
    [['unitsPerPackage'], terms.unitsPerPackage !== undefined],
    [['rolloverUnusedUnits'], terms.rolloverUnusedUnits === true],
    [['maxUnbilledMinor'], (terms.maxUnbilledMinor ?? 0) > 0],
  ]
  return given
    .filter(([, isGiven]) => isGiven)
    .map(([path]) =>
      fieldFault(path, `A plan with \`charges\` has no \`${path.join('.')}\`. Leave it out.`),
    )
}

/** Only a plan with charges is checked meter by meter. */
function limitsWithoutCharges({ terms }: ChargedPlan): ValidationIssue[] {
  if ((terms.usageLimits ?? []).length === 0) return []
  const message = 'Only plans with `charges` have `usageLimits`. List the meters as charges, too.'
  return [fieldFault(['usageLimits'], message)]
}

/** Answers of limit checks name a limit by its key, as they name a charge. */
export function usageLimitFaults(
  limits: readonly UsageLimit[],
  charges: readonly Charge[],
  meters: ChargeableMeters,
): ValidationIssue[] {
  const used = new Set(charges.map(chargeKey))
  return limits.flatMap((limit, index) => {
    const key = usageLimitKey(limit)
    const issues = [
      ...meterFaults(limit, meters.get(limit.meter)),
      ...spendLimitFaults(limit, charges),
    ]
    if (used.has(key)) {
      issues.push(fieldFault(['key'], `Another charge or limit has the key ${key}. Set a \`key\`.`))
    }
    used.add(key)
    return faultsUnder(['usageLimits', index], issues)
  })
}

function repeatedKeys(charges: readonly Charge[]): ValidationIssue[] {
  const keys = charges.map(chargeKey)
  return keys.flatMap((key, index) => {
    if (keys.indexOf(key) === index) return []
    return [
      fieldFault(['charges', index, 'key'], `Another charge has the key ${key}. Set a \`key\`.`),
    ]
  })
}

/** Included units and caps count a meter as a whole, so only one charge of each meter may have them. */
export function repeatedAllowances(charges: readonly Charge[]): ValidationIssue[] {
  const allowed = new Set<string>()
  return charges.flatMap(({ meter, included = 0, cap = 0 }, index) => {
    if (included === 0 && cap === 0) return []
    if (!allowed.has(meter)) {
      allowed.add(meter)
      return []
    }
    const message = `Another charge of the meter ${meter} has included units or a cap. Only one can have them.`
    return [fieldFault(['charges', index, included > 0 ? 'included' : 'cap'], message)]
  })
}

function foreignCurrencies(plan: ChargedPlan, charges: readonly Charge[]): ValidationIssue[] {
  const options = plan.terms.pricingOptions ?? []
  const other = options.find(({ currency }) => currency.toUpperCase() !== plan.currency)
  if (other === undefined) return []
  const message = `\`price\` is an amount of ${plan.currency}, and the plan is also sold in ${other.currency}. Use \`creditsPerUnit\`.`
  return charges.flatMap((charge, index) => {
    const priced = [charge, ...(charge.tiers ?? []), ...(charge.rows ?? [])]
    const isMoney = priced.some(({ price }) => price !== undefined)
    return isMoney ? [fieldFault(['charges', index, 'price'], message)] : []
  })
}

export function meterFaults(
  { meter }: Pick<Charge, 'meter'>,
  known: ChargeableMeter | undefined,
): ValidationIssue[] {
  if (meter.startsWith(toolMeterPrefix)) {
    const message =
      'Calls of tools are counted by `requests`. Charge a meter that reads `requests` where `/metadata/toolName` is the tool.'
    return [fieldFault(['meter'], message)]
  }
  if (known === undefined) return [fieldFault(['meter'], `There is no meter ${meter}.`)]
  if (known.status !== 'active') return [fieldFault(['meter'], `The meter ${meter} is archived.`)]
  if (known.mayBeUnpriced === true) {
    const message = `A call of a model without a price would be free. Let the meter ${meter} refuse unknown models, or give it an own price for the model "*".`
    return [fieldFault(['meter'], message)]
  }
  if (known.aggregation === 'sum' || known.aggregation === 'count') return []
  const message = `The meter ${meter} has the aggregation ${known.aggregation}. Charges need \`sum\` or \`count\`.`
  return [fieldFault(['meter'], message)]
}

function limitFaults(charge: Charge, plan: ChargedPlan): ValidationIssue[] {
  const { cap = 0, included = 0, rollover = false } = charge
  if (rollover && cap > 0) return capFaults(charge)
  if (!rollover || (plan.type !== 'one-time' && included > 0)) return capFaults(charge)
  const message =
    plan.type === 'one-time'
      ? 'A one-time plan has no next period.'
      : 'Only `included` units are carried over.'
  return [...capFaults(charge), fieldFault(['rollover'], message)]
}

/** Returns why the charge cannot have its cap. */
export function capFaults({ cap = 0, rollover = false, where, model }: Charge): ValidationIssue[] {
  if (cap === 0) return []
  const faults: ValidationIssue[] = []
  if (where !== undefined) {
    const message =
      'A cap counts the meter as a whole. Leave out `where`, or define a meter that counts only these records.'
    faults.push(fieldFault(['cap'], message))
  }
  if (model === 'matrix') {
    faults.push(fieldFault(['cap'], 'A matrix has no cap. Give the cap to another charge.'))
  }
  if (rollover) {
    const message = 'Carried units do not raise a `cap` yet. Leave out one of them.'
    faults.push(fieldFault(['rollover'], message))
  }
  return faults
}
