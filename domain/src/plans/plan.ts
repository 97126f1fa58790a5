import type {
  BillingCycle,
  BillingModel,
  PlanStatus,
  PlanType,
  PricingOption,
} from '@tollgate/schemas/http/plan-terms'
import type { PlanCreateInput } from '@tollgate/schemas/http/plans'

export type { PlanStatus, PlanType }

/** Everything else a plan says, kept under the names of the wire. What is absent was never given. */
export type PlanTerms = {
  readonly billingCycle?: BillingCycle
  readonly billingCycleDays?: number
  readonly billingModel?: BillingModel
  readonly creditsPerUnit?: number
  readonly freeUnits?: number
  readonly limit?: number
  /** Minor units of the plan's currency; 0 and absent are one. */
  readonly maxUnbilledMinor?: number
  /** Derived: the units of a period that cost no more than that. */
  readonly maxUnbilledUnits?: number
  readonly pricingOptions?: readonly PricingOption[]
  readonly trialDays?: number
  readonly rolloverUnusedUnits?: boolean
  /** It starts only for customers with a saved card. */
  readonly requiresPaymentMethod?: boolean
  readonly autoRenew?: boolean
  readonly measures?: string
} & Configuration

/** Fields that limits and money read but nothing here decides about. */
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
  /** How the configuration of an MCP product names it. */
  readonly key: string | null
  readonly name: string
  readonly description: string | null
  readonly type: PlanType
  readonly status: PlanStatus
  readonly isDefault: boolean
  readonly hidden: boolean
  /** Minor units of `currency`; those of the default pricing option where there are options. */
  readonly priceMinor: number
  readonly basePriceMinor: number | null
  readonly setupFeeMinor: number | null
  readonly currency: string
  readonly meterRef: string | null
  readonly terms: PlanTerms
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** What a plan costs and how it is counted: all that the rules below need of it. */
export type PlanCore = Pick<Plan, 'type' | 'priceMinor' | 'basePriceMinor' | 'terms'>

/** The set-up fee is also part of what the plan costs. */
export type PlanCosts = PlanCore & Pick<Plan, 'setupFeeMinor'>

/** Whether it goes on period after period until somebody cancels it; else it ends by itself. */
export function renews({ type, terms }: Pick<PlanCore, 'type' | 'terms'>): boolean {
  return type !== 'one-time' && (terms.autoRenew ?? true)
}

/**
 * Whether the plan can ever charge its customer: when it starts, with a period, or for usage, in any of its currencies.
 * Clients may send the field; it is always derived. A plan that charges for usage alone requires payment, though it starts
 * without one.
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

/** Whether a unit can cost credits, which the wallet or an invoice pays. */
function chargesUsage({ type, terms }: PlanCore): boolean {
  if (type !== 'usage-based' && type !== 'hybrid') return false
  const { creditsPerUnit = 0, usageTiers = [], overagePolicy } = terms
  const overageRate = overagePolicy?.allowOverage === true ? overagePolicy.overageRate : undefined
  const rates = [creditsPerUnit, overageRate ?? 0, ...usageTiers.map((tier) => tier.creditsPerUnit)]
  return rates.some((rate) => rate > 0)
}

/** Usage is paid from the wallet as it happens. */
export function isPrePaid(plan: PlanCore): boolean {
  return plan.type === 'usage-based' && plan.terms.billingModel !== 'post-paid'
}

/** Usage is debited from the wallet: pre-paid and not free of charge. */
export function isCreditBased(plan: PlanCore): boolean {
  return isPrePaid(plan) && (plan.terms.creditsPerUnit ?? 0) > 0
}

/** Whether a customer without a purchase gets the plan on the first limit check: it can never charge, so it needs no consent. */
export function isAutoEnrolled(plan: PlanCosts): boolean {
  const needsCard = plan.terms.requiresPaymentMethod === true
  return !requiresPayment(plan) && plan.type !== 'usage-based' && !needsCard
}

/** Only a plan that nobody has to buy beforehand may be the product's default. */
export function mayBeDefault(plan: PlanCosts): boolean {
  return !requiresPayment(plan) || plan.type === 'usage-based'
}
