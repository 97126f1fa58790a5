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
  readonly pricingOptions?: readonly PricingOption[]
  readonly trialDays?: number
  readonly rolloverUnusedUnits?: boolean
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

/** Whether it goes on period after period until somebody cancels it; else it ends by itself. */
export function renews({ type, terms }: Pick<PlanCore, 'type' | 'terms'>): boolean {
  return type !== 'one-time' && (terms.autoRenew ?? true)
}

/** Whether taking the plan needs money. Clients may send the field; it is always derived. */
export function requiresPayment(plan: PlanCore): boolean {
  const creditsPerUnit = plan.terms.creditsPerUnit ?? 0
  switch (plan.type) {
    case 'recurring':
    case 'one-time':
      return plan.priceMinor > 0
    case 'usage-based':
      return creditsPerUnit > 0 || plan.priceMinor > 0
    case 'hybrid':
      return (plan.basePriceMinor ?? 0) > 0 || plan.priceMinor > 0 || creditsPerUnit > 0
  }
}

/** Usage is paid from the wallet as it happens. */
export function isPrePaid(plan: PlanCore): boolean {
  return plan.type === 'usage-based' && plan.terms.billingModel !== 'post-paid'
}

/** Usage is debited from the wallet: pre-paid and not free of charge. */
export function isCreditBased(plan: PlanCore): boolean {
  return isPrePaid(plan) && (plan.terms.creditsPerUnit ?? 0) > 0
}

/** The plan that a customer without a purchase gets on the first limit check: it costs nothing and needs no consent. */
export function isAutoEnrolled(plan: PlanCore): boolean {
  return !requiresPayment(plan) && plan.type !== 'usage-based'
}

/** Only a plan that nobody has to buy beforehand may be the product's default. */
export function mayBeDefault(plan: PlanCore): boolean {
  return !requiresPayment(plan) || plan.type === 'usage-based'
}
