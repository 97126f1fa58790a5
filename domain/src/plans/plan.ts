import type {
  BillingCycle,
  BillingModel,
  PlanStatus,
  PlanType,
  PricingOption,
} from '@tollgate/schemas/http/plan-terms'
import type { RampStep } from '@tollgate/schemas/http/agreed-prices'
import type { Charge } from '@tollgate/schemas/http/charges'
import type { Pack } from '@tollgate/schemas/http/packs'
import type { UsageLimit } from '@tollgate/schemas/http/usage-limits'
import type { PlanCreateInput } from '@tollgate/schemas/http/plans'

export type { PlanStatus, PlanType }

/** The other fields of a plan, named as on the wire. Absent fields were never given. */
export type PlanTerms = {
  readonly billingCycle?: BillingCycle
  readonly billingCycleDays?: number
  readonly billingModel?: BillingModel
  readonly creditsPerUnit?: number
  readonly freeUnits?: number
  readonly limit?: number
  /** Maximum unbilled amount in minor units of the plan's currency. 0 and absent mean the same. */
  readonly maxUnbilledMinor?: number
  /** Unbilled usage at which a running period is billed, in minor units of the plan's currency. 0 and absent mean the same. */
  readonly billAtUnbilledMinor?: number
  /** What the usage of a period costs at least, in minor units of the plan's currency. 0 and absent mean the same. */
  readonly minimumCommitment?: number
  /** Derived: the units of a period that cost at most `maxUnbilledMinor`. */
  readonly maxUnbilledUnits?: number
  readonly pricingOptions?: readonly PricingOption[]
  /** Prices of the first periods of each purchase. The prices beside it apply after the last step. */
  readonly ramp?: readonly RampStep[]
  /** Prices and limits by meter. Absent for plans that price and limit only the meter `requests`. */
  readonly charges?: readonly Charge[]
  /** Limits in addition to the caps of the charges. */
  readonly usageLimits?: readonly UsageLimit[]
  /** Set for packs: units that are used beside the running plan of the product. */
  readonly pack?: Pack
  readonly trialDays?: number
  readonly rolloverUnusedUnits?: boolean
  /** Whether the plan starts only for customers with a saved card. */
  readonly requiresPaymentMethod?: boolean
  readonly autoRenew?: boolean
  readonly measures?: string
} & Configuration

/** Fields that limits and prices read, but that this folder stores unchanged. */
export const configurationKeys = [
  'usageTracking',
  'limits',
  'features',
  'metadata',
  'usageTiers',
  'usageTierMode',
  'unitsPerPackage',
  'pricingTiers',
  'overagePolicy',
  'billingStrategy',
  'prorationPolicy',
  'cancellationNoticeDays',
  'isRecurring',
  'availability',
  'fulfillment',
  'warranty',
  'returnPolicy',
  'maxActiveUsers',
  'accessExpiryDays',
  'taxBehavior',
] as const

type Configuration = {
  readonly [Key in (typeof configurationKeys)[number]]?: NonNullable<PlanCreateInput[Key]>
}

export type Plan = {
  readonly reference: string
  readonly productRef: string
  /** Name of the plan in the configuration of an MCP product. */
  readonly key: string | null
  readonly name: string
  readonly description: string | null
  readonly type: PlanType
  readonly status: PlanStatus
  readonly isDefault: boolean
  readonly hidden: boolean
  /** Price in minor units of `currency`. With pricing options, this is the price of the default option. */
  readonly priceMinor: number
  readonly basePriceMinor: number | null
  readonly setupFeeMinor: number | null
  readonly currency: string
  readonly meterRef: string | null
  readonly terms: PlanTerms
  /** Periods of the ramp that the customer had before the purchase. Absent for 0. A plan on offer has none. */
  readonly rampPeriods?: number | undefined
  /** The plan as it is sold to everybody, if the other fields are the prices of one customer, or of a step of the ramp. */
  readonly listed?: PlanSnapshot | undefined
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** Snapshot of the plan that a purchase keeps: all fields on which limits and prices depend. */
export type PlanSnapshot = Pick<
  Plan,
  | 'reference'
  | 'name'
  | 'type'
  | 'priceMinor'
  | 'basePriceMinor'
  | 'setupFeeMinor'
  | 'currency'
  | 'meterRef'
  | 'terms'
  | 'rampPeriods'
  | 'listed'
>

/** Fields that decide how a plan is priced and counted. */
export type PlanCore = Pick<Plan, 'type' | 'priceMinor' | 'basePriceMinor' | 'terms' | 'listed'>

/** `PlanCore` with the set-up fee, which is also part of the plan's cost. */
export type PlanCosts = PlanCore & Pick<Plan, 'setupFeeMinor'>

/** Returns whether purchases of the plan renew until they are cancelled. Otherwise they end by themselves. */
export function renews({ type, terms }: Pick<PlanCore, 'type' | 'terms'>): boolean {
  return type !== 'one-time' && (terms.autoRenew ?? true)
}

/**
 * Returns whether the plan can ever charge its customer: when it starts, for a period or for usage, in any of its currencies. The
 * value is always derived, even if a client sends the field. A plan that charges only for usage requires payment, although it
 * starts without one.
 */
export function requiresPayment(plan: PlanCosts): boolean {
  return hasPrice(plan) || chargesUsage(plan)
}

function hasPrice({ type, priceMinor, basePriceMinor, setupFeeMinor, terms }: PlanCosts): boolean {
  const own = { price: priceMinor, basePrice: basePriceMinor, setupFee: setupFeeMinor }
  return [own, ...(terms.pricingOptions ?? [])].some(({ price, basePrice, setupFee }) => {
    const hasBasePrice = type === 'hybrid' && (basePrice ?? 0) > 0
    return price > 0 || hasBasePrice || (setupFee ?? 0) > 0
  })
}

/** Returns whether a unit can cost credits, which the wallet or an invoice pays. */
function chargesUsage({ type, terms }: PlanCore): boolean {
  if (type !== 'usage-based' && type !== 'hybrid') return false
  if (terms.charges !== undefined) return terms.charges.some(isPriced)
  const { creditsPerUnit = 0, usageTiers = [], overagePolicy } = terms
  const overageRate = overagePolicy?.allowOverage === true ? overagePolicy.overageRate : undefined
  const rates = [creditsPerUnit, overageRate ?? 0, ...usageTiers.map((tier) => tier.creditsPerUnit)]
  return rates.some((rate) => rate > 0)
}

/** Returns whether a unit of the charge can cost something. */
function isPriced({ tiers = [], rows = [], ...charge }: Charge): boolean {
  const prices = [charge, ...tiers, ...rows].flatMap(({ price, creditsPerUnit }) => [
    price,
    creditsPerUnit,
  ])
  return [...prices, ...tiers.map(({ flatPrice }) => flatPrice)].some((text) => Number(text) > 0)
}

/** Returns whether usage is paid from the wallet as it happens. */
export function isPrePaid(plan: PlanCore): boolean {
  return plan.type === 'usage-based' && plan.terms.billingModel !== 'post-paid'
}

/** Returns whether usage is debited from the wallet: the plan is pre-paid and not free of charge. */
export function isCreditBased(plan: PlanCore): boolean {
  const { charges, creditsPerUnit = 0 } = plan.terms
  return isPrePaid(plan) && (charges?.some(isPriced) ?? creditsPerUnit > 0)
}

/**
 * Returns whether a customer without a purchase gets the plan on the first limit check. Such a plan can never charge, so it needs
 * no consent.
 */
export function isAutoEnrolled(plan: PlanCosts): boolean {
  const needsCard = plan.terms.requiresPaymentMethod === true
  return !requiresPayment(plan) && plan.type !== 'usage-based' && !needsCard
}

/** Returns whether the plan can be the product's default. A default plan must not need a payment in advance. */
export function mayBeDefault(plan: PlanCosts): boolean {
  return !requiresPayment(plan) || plan.type === 'usage-based'
}
