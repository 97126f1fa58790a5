import { isDeepStrictEqual } from 'node:util'
import type { ValidationIssue } from '@tollgate/schemas/http/errors'
import type { BillingModel, PricingOption } from '@tollgate/schemas/http/plan-terms'
import { planTypes } from '@tollgate/schemas/http/plan-terms'
import type { PlanCreateInput, PlanUpdateInput } from '@tollgate/schemas/http/plans'
import { requestsMeterName } from '@tollgate/schemas/http/meter-events'
import type { Plan, PlanTerms, PlanType } from '../plans/plan.ts'
import { billThresholdFaults } from './bill-threshold-faults.ts'
import { minimumFaults } from './minimum-faults.ts'
import { chargeFaults, type ChargeableMeters } from './charge-faults.ts'
import { paymentMethodFaults } from './payment-method-faults.ts'
import { faultsUnder } from '../plans/field-fault.ts'
import { configurationKeys, mayBeDefault } from '../plans/plan.ts'
import { packFaults } from './pack-faults.ts'
import { priceFaults } from './price-faults.ts'
import { rampFaults } from './ramp-faults.ts'
import { mainOption, upperCaseOptions } from '../plans/pricing-options.ts'
import { enforcedTermsOf, termFaults } from '../plans/term-faults.ts'
import { maxUnbilledUnits, unbilledLimitFaults, type DollarRates } from './unbilled-limit.ts'

/** A plan before it has a reference and a product. */
export type PlanDraft = Omit<Plan, 'reference' | 'productRef' | 'createdAt' | 'updatedAt'>

export type PlanRefusalCode =
  | 'PLAN_CURRENCY_NOT_PROVIDER_DEFAULT'
  | 'PLAN_NOT_ALLOWED_AS_DEFAULT'
  | 'PLAN_PRICES_INVALID'
  | 'PLAN_TERMS_INVALID'

export type PlanRefusal = {
  readonly kind: 'refused'
  readonly code: PlanRefusalCode
  readonly message: string
  /** Faults by field. Present if the refusal is about prices or terms. */
  readonly issues?: readonly ValidationIssue[]
}

export type PlanDecision = { readonly kind: 'accepted'; readonly plan: PlanDraft } | PlanRefusal

export type PlanContext = {
  /** The provider's default currency, upper case. */
  readonly defaultCurrency: string
  /** Reference of the provider's `requests` meter. */
  readonly requestsMeterRef: string
  /** Known exchange rates of the currencies that the plan may have. */
  readonly rates: DollarRates
  /** The provider's meters that the plan's charges may name. Absent if no charge is given. */
  readonly meters?: ChargeableMeters
}

export function draftPlan(input: PlanCreateInput, context: PlanContext): PlanDecision {
  const type = planTypeOf(input.type)
  const fresh: PlanDraft = {
    key: null,
    name: type,
    description: null,
    type,
    status: 'active',
    isDefault: false,
    hidden: false,
    priceMinor: 0,
    basePriceMinor: null,
    setupFeeMinor: null,
    currency: context.defaultCurrency,
    meterRef: null,
    terms: {},
  }
  // A pre-paid plan is created without free units. A later update may set them.
  const isPrePaid = type === 'usage-based' && (input.billingModel ?? 'pre-paid') === 'pre-paid'
  const plan = deriveFields(merge(fresh, isPrePaid ? { ...input, freeUnits: 0 } : input), context)
  return (
    refusedCurrency(plan, context) ??
    refusedDefault(plan) ??
    refusedPrices(plan, context) ??
    refusedFields(termFaults(plan), 'PLAN_TERMS_INVALID') ?? { kind: 'accepted', plan }
  )
}

/** Applies an update to a plan. Only the fields in the update change. The type never changes. */
export function revisePlan(
  plan: PlanDraft,
  input: PlanUpdateInput,
  context: PlanContext,
): PlanDecision {
  const revised = deriveFields(merge(plan, writeThrough(plan, input)), context)
  const arePricesSame = isDeepStrictEqual(pricesOf(revised), pricesOf(plan))
  // Only changed parts are checked, so that older plans stay editable: a plan from before a change of the provider's
  // currency, and a default plan from before its usage counted as a cost.
  const refused =
    (revised.currency === plan.currency ? undefined : refusedCurrency(revised, context)) ??
    // A plan whose prices were set before a price rule existed stays editable as long as its prices do not change.
    (arePricesSame
      ? refusedFields(paymentMethodFaults(revised))
      : refusedPrices(revised, context)) ??
    (isDeepStrictEqual(enforcedTermsOf(revised), enforcedTermsOf(plan))
      ? undefined
      : refusedFields(termFaults(revised), 'PLAN_TERMS_INVALID'))
  const isDefaultAsBefore = plan.isDefault && !mayBeDefault(plan)
  const refusal = refused ?? (isDefaultAsBefore ? undefined : refusedDefault(revised))
  return refusal ?? { kind: 'accepted', plan: revised }
}

/**
 * Applies a given price to the main pricing option. If a plan has pricing options, its own price mirrors the main
 * option.
 */
function writeThrough(plan: PlanDraft, input: PlanUpdateInput): PlanUpdateInput {
  const options = plan.terms.pricingOptions ?? []
  const main = mainOption(options)
  if (main === undefined || input.pricingOptions !== undefined) return input
  const changed: PricingOption = {
    ...main,
    price: input.price ?? main.price,
    currency: input.currency ?? main.currency,
    basePrice: input.basePrice ?? main.basePrice,
    setupFee: input.setupFee ?? main.setupFee,
  }
  return {
    ...input,
    pricingOptions: options.map((option) => (option === main ? changed : option)),
  }
}

/** Returns the plan type of a request. A missing or unknown type means a subscription. */
function planTypeOf(given: string | undefined): PlanType {
  return planTypes.find((type) => type === given) ?? 'recurring'
}

function merge(plan: PlanDraft, input: PlanUpdateInput): PlanDraft {
  return {
    ...plan,
    name: input.name ?? plan.name,
    description: input.description ?? plan.description,
    status: input.status ?? plan.status,
    isDefault: input.default ?? plan.isDefault,
    hidden: input.hidden ?? plan.hidden,
    priceMinor: input.price ?? plan.priceMinor,
    basePriceMinor: input.basePrice ?? plan.basePriceMinor,
    setupFeeMinor: input.setupFee ?? plan.setupFeeMinor,
    currency: (input.currency ?? plan.currency).toUpperCase(),
    terms: mergeTerms(plan.terms, input),
  }
}

const termKeys = [
  'billingCycle',
  'billingCycleDays',
  'billingModel',
  'charges',
  'usageLimits',
  'creditsPerUnit',
  'freeUnits',
  'limit',
  'maxUnbilledMinor',
  'billAtUnbilledMinor',
  'minimumCommitment',
  'pack',
  'pricingOptions',
  'ramp',
  'trialDays',
  'requiresPaymentMethod',
  'rolloverUnusedUnits',
  'autoRenew',
  ...configurationKeys,
] as const

function mergeTerms(terms: PlanTerms, input: PlanUpdateInput): PlanTerms {
  const given = termKeys
    .filter((key) => input[key] !== undefined)
    .map((key) => [key, input[key]] as const)
  return { ...terms, ...(Object.fromEntries(given) as PlanTerms) }
}

/** Derives the fields that follow from other fields. */
function deriveFields(merged: PlanDraft, context: PlanContext): PlanDraft {
  return withUnbilledUnits(mirrorMainOption(withDerivedTerms(merged, context)), context)
}

function refusedCurrency(plan: PlanDraft, context: PlanContext): PlanDecision | undefined {
  if (plan.currency === context.defaultCurrency) return undefined
  return {
    kind: 'refused',
    code: 'PLAN_CURRENCY_NOT_PROVIDER_DEFAULT',
    message: `Plan currency must be the provider's default currency ${context.defaultCurrency}`,
  }
}

function refusedPrices(plan: PlanDraft, { rates, meters }: PlanContext): PlanDecision | undefined {
  return refusedFields([
    ...priceFaults(plan),
    ...chargeFaults(plan, meters ?? new Map<string, never>()),
    ...packFaults(plan, meters ?? new Map<string, never>()),
    ...unbilledLimitFaults(plan, rates),
    ...billThresholdFaults(plan),
    ...minimumFaults(plan),
    ...faultsUnder(['ramp'], rampFaults(plan, plan.terms.ramp ?? [])),
    ...paymentMethodFaults(plan),
  ])
}

function refusedFields(
  issues: readonly ValidationIssue[],
  code: PlanRefusalCode = 'PLAN_PRICES_INVALID',
): PlanDecision | undefined {
  if (issues.length === 0) return undefined
  return { kind: 'refused', code, message: 'Validation failed', issues }
}

/** Returns all fields on which the price rules depend. */
function pricesOf({ priceMinor, basePriceMinor, setupFeeMinor, currency, terms }: PlanDraft) {
  const { pricingOptions, billingModel, creditsPerUnit, freeUnits, limit } = terms
  const { usageTiers, overagePolicy, unitsPerPackage, rolloverUnusedUnits } = terms
  const { usageTierMode, maxUnbilledMinor, charges, usageLimits } = terms
  return [
    [priceMinor, basePriceMinor, setupFeeMinor, currency, pricingOptions],
    [billingModel, creditsPerUnit, freeUnits, limit, rolloverUnusedUnits],
    [usageTiers, usageTierMode, overagePolicy, unitsPerPackage, maxUnbilledMinor],
    ...(charges === undefined ? [] : [charges, terms.limits?.['maxTransactions']]),
    ...(usageLimits === undefined ? [] : [usageLimits]),
    ...(terms.billAtUnbilledMinor === undefined ? [] : [terms.billAtUnbilledMinor]),
    ...(terms.minimumCommitment === undefined
      ? []
      : [['minimum', terms.minimumCommitment, terms.billingCycle]]),
    ...(terms.ramp === undefined ? [] : [['ramp', terms.ramp, terms.billingCycle]]),
    ...(terms.pack === undefined
      ? []
      : [terms.pack, terms.trialDays, terms.limits?.['maxTransactions']]),
  ]
}

function refusedDefault(plan: PlanDraft): PlanDecision | undefined {
  if (!plan.isDefault || mayBeDefault(plan)) return undefined
  return {
    kind: 'refused',
    code: 'PLAN_NOT_ALLOWED_AS_DEFAULT',
    message: 'Only free or usage-based plans can be the default plan of a product',
  }
}

function withDerivedTerms(plan: PlanDraft, context: PlanContext): PlanDraft {
  const isMetered = plan.type === 'usage-based' || plan.type === 'hybrid'
  const billingModel = billingModelOf(plan)
  const { billingCycle, ...terms } = plan.terms
  const cycle =
    plan.type === 'one-time' ? undefined : (billingCycle ?? defaultCycle(plan, billingModel))
  return {
    ...plan,
    meterRef: isMetered ? context.requestsMeterRef : null,
    terms: {
      ...terms,
      ...(billingModel === undefined ? {} : { billingModel }),
      ...(cycle === undefined ? {} : { billingCycle: cycle }),
      ...(isMetered ? { measures: requestsMeterName } : {}),
    },
  }
}

function billingModelOf(plan: PlanDraft): BillingModel | undefined {
  return plan.terms.billingModel ?? (plan.type === 'usage-based' ? 'pre-paid' : undefined)
}

/**
 * Returns the default billing cycle. Pre-paid usage is debited at once, so a pre-paid plan has a cycle only if the
 * request names one.
 */
function defaultCycle(plan: PlanDraft, model: BillingModel | undefined): 'monthly' | undefined {
  return plan.type === 'usage-based' && model === 'pre-paid' ? undefined : 'monthly'
}

/** Copies the price and currency of the main pricing option, if there is one, to the plan. */
function mirrorMainOption(plan: PlanDraft): PlanDraft {
  const options = upperCaseOptions(plan.terms.pricingOptions ?? [])
  const main: PricingOption | undefined = mainOption(options)
  if (main === undefined) return plan
  return {
    ...plan,
    priceMinor: main.price,
    currency: main.currency,
    basePriceMinor: main.basePrice ?? plan.basePriceMinor,
    setupFeeMinor: main.setupFee ?? plan.setupFeeMinor,
    terms: { ...plan.terms, pricingOptions: options },
  }
}

function withUnbilledUnits(plan: PlanDraft, { rates }: PlanContext): PlanDraft {
  const { maxUnbilledUnits: _before, ...terms } = plan.terms
  const units = maxUnbilledUnits({ ...plan, terms }, rates)
  return { ...plan, terms: units === undefined ? terms : { ...terms, maxUnbilledUnits: units } }
}
