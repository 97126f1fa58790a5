import { z } from 'zod'
import { countMax, daysMax, listItemsMax } from '../limits.ts'
import { rampSchema } from './agreed-prices.ts'
import { chargesSchema } from './charges.ts'
import { packSchema } from './packs.ts'
import { creditRate, usageTierSchema } from './unit-prices.ts'
import { usageLimitsSchema } from './usage-limits.ts'
import {
  amountMinor,
  currencyCode,
  jsonObject,
  longText,
  nameText,
  positiveQuantity,
  unitCount,
} from './fields.ts'

/* Fields that creation and update of a plan share. */

export const planTypes = ['recurring', 'usage-based', 'hybrid', 'one-time'] as const
export type PlanType = (typeof planTypes)[number]

export const planStatuses = ['active', 'inactive', 'archived'] as const
export type PlanStatus = (typeof planStatuses)[number]

export const billingCycles = ['weekly', 'monthly', 'quarterly', 'yearly', 'custom'] as const
export type BillingCycle = (typeof billingCycles)[number]

export const billingModels = ['pre-paid', 'post-paid'] as const
export type BillingModel = (typeof billingModels)[number]

export const billingStrategies = ['recurring_first', 'usage_first', 'combined'] as const
export type BillingStrategy = (typeof billingStrategies)[number]

export const prorationPolicies = ['proportional', 'full', 'none'] as const
export type ProrationPolicy = (typeof prorationPolicies)[number]

export const taxBehaviors = ['auto', 'inclusive', 'exclusive'] as const

export const pricingOptionSchema = z.object({
  currency: currencyCode,
  price: amountMinor,
  basePrice: amountMinor.optional(),
  setupFee: amountMinor.optional(),
  default: z.boolean().optional(),
})

export type PricingOption = z.infer<typeof pricingOptionSchema>

export const usageTierModes = ['graduated', 'volume'] as const

const overagePolicySchema = z.object({
  allowOverage: z.boolean().optional(),
  overageRate: creditRate.optional(),
  maxOverage: unitCount.optional(),
})

const usageTrackingSchema = z.object({
  method: z.enum(['automatic', 'manual', 'hybrid']).optional(),
  granularity: z.enum(['hourly', 'daily', 'weekly', 'monthly']).optional(),
})

const days = z.int().min(0).max(daysMax)
const textOrObject = z.union([longText, jsonObject])

/** Stored and returned unchanged. Limit checks and billing interpret them. */
const configurationFields = {
  usageTracking: usageTrackingSchema.optional(),
  limits: jsonObject.optional(),
  features: jsonObject.optional(),
  metadata: jsonObject.optional(),
  usageTiers: z.array(usageTierSchema).max(listItemsMax).optional(),
  /**
   * `graduated` (default): each unit has the price of its own tier. `volume`: all units have the price of the last reached tier.
   */
  usageTierMode: z.enum(usageTierModes).optional(),
  /** Usage is sold in packages of this many units. A started package is charged completely. */
  unitsPerPackage: positiveQuantity.optional(),
  pricingTiers: z.array(jsonObject).max(listItemsMax).optional(),
  overagePolicy: overagePolicySchema.optional(),
  billingStrategy: z.enum(billingStrategies).optional(),
  prorationPolicy: z.enum(prorationPolicies).optional(),
  cancellationNoticeDays: days.optional(),
  isRecurring: z.boolean().optional(),
  availability: jsonObject
    .describe(
      '`maxQuantity` of a one-time plan: how many times it can be sold. A paid purchase counts until it is refunded. Free purchases count once per customer, even if they are cancelled and activated again.',
    )
    .optional(),
  fulfillment: jsonObject.optional(),
  warranty: textOrObject.optional(),
  returnPolicy: textOrObject.optional(),
}

export const planFields = {
  description: longText.optional(),
  billingCycle: z.enum(billingCycles).optional(),
  /** Length of a custom cycle in days. */
  billingCycleDays: z.int().min(1).max(daysMax).optional(),
  billingModel: z.enum(billingModels).optional(),
  price: amountMinor.optional(),
  basePrice: amountMinor.optional(),
  setupFee: amountMinor.optional(),
  currency: currencyCode.optional(),
  pricingOptions: z.array(pricingOptionSchema).max(listItemsMax).optional(),
  creditsPerUnit: z.int().min(0).max(countMax).optional(),
  freeUnits: unitCount.optional(),
  limit: unitCount.optional(),
  /**
   * Maximum price of usage in a running period before it is billed, in minor units of the plan's currency; 0 for no limit. Limit
   * checks refuse further usage. Only for post-paid and hybrid plans that charge for usage.
   */
  maxUnbilledMinor: amountMinor.optional(),
  billAtUnbilledMinor: amountMinor
    .describe(
      "Unbilled usage of a running period is invoiced and charged whenever it reaches this amount, in minor units of the plan's currency; 0 for only at the end of the period. The invoices of a period add up to its price. Only for post-paid and hybrid plans that charge for usage without volume prices. At least the smallest amount that can be charged.",
    )
    .optional(),
  minimumCommitment: amountMinor
    .describe(
      "What the usage of each billing period costs at least, in minor units of the plan's currency; 0 for no minimum. The base price comes on top. The difference is a line of the bill of the period. Only for post-paid and hybrid plans that charge for usage, in one currency.",
    )
    .optional(),
  ramp: rampSchema
    .describe(
      'Prices of the first billing periods of each purchase, in the order of time. After the last step, the prices beside it apply. Only for plans with billing periods, in one currency. An empty list removes the ramp.',
    )
    .optional(),
  /** Prices and limits by meter, in place of the fields that price and limit `requests`. */
  charges: chargesSchema.optional(),
  /** Limits in addition to the caps of charges, such as per minute or per week. Only for plans with charges. */
  usageLimits: usageLimitsSchema.optional(),
  /**
   * Makes a one-time plan a pack: units that are used after those of the running plan of the same product, which a purchase of the
   * pack leaves untouched. They expire after `accessExpiryDays`.
   */
  pack: packSchema.optional(),
  trialDays: days.optional(),
  rolloverUnusedUnits: z.boolean().optional(),
  /**
   * The plan starts only for customers with a saved card. For plans that cost nothing at the start and charge later: post-paid and
   * hybrid plans that charge for usage, and trials.
   */
  requiresPaymentMethod: z.boolean().optional(),
  autoRenew: z.boolean().optional(),
  status: z.enum(planStatuses).optional(),
  maxActiveUsers: z.int().min(0).max(countMax).optional(),
  accessExpiryDays: days.optional(),
  default: z.boolean().optional(),
  hidden: z.boolean().optional(),
  taxBehavior: z.enum(taxBehaviors).optional(),
  ...configurationFields,
}

export const planName = nameText
