import { z } from 'zod'
import { attachedAddOnSchema } from './add-on-terms.ts'
import { chargedUsageFields } from './charge-usage.ts'
import { chargesSchema } from './charges.ts'
import { shownOverridesSchema } from './overrides.ts'
import { usageLimitsSchema } from './usage-limits.ts'
import { packSchema } from './packs.ts'
import { changeBillings } from './scheduled-changes.ts'
import { jsonObject, longText, optionalReference, queryBoolean } from './fields.ts'

/* Schemas of `/v1/sdk/purchases`. */

export const purchaseStatuses = [
  'pending',
  'active',
  'trialing',
  'past_due',
  'cancelled',
  'expired',
  'suspended',
  'refunded',
] as const
export type PurchaseStatus = (typeof purchaseStatuses)[number]

export const purchaseOrigins = [
  'paid',
  'free_default',
  'manual',
  'one_time',
  'credit_topup',
] as const
export type PurchaseOrigin = (typeof purchaseOrigins)[number]

/** `includeFree=false` excludes purchases of free recurring plans and automatic enrolments. */
export const purchasesQuerySchema = z.object({
  status: z.enum(purchaseStatuses).optional(),
  productRef: optionalReference.optional(),
  customerRef: optionalReference.optional(),
  includeFree: queryBoolean.default('true'),
})

export type PurchasesQuery = z.infer<typeof purchasesQuerySchema>

export const customerPurchasesQuerySchema = z.object({ includeFree: queryBoolean.default('true') })

/** The plan at the time of the purchase. A missing `limit` means no cap, since clients display 0 as "none left". */
export const planSnapshotSchema = z.object({
  reference: z.string().optional(),
  name: z.string().optional(),
  price: z.number(),
  currency: z.string(),
  planType: z.string(),
  billingCycle: z.string().nullable(),
  features: jsonObject.nullable(),
  limits: jsonObject.nullable(),
  meterRef: z.string().optional(),
  limit: z.number().optional(),
  freeUnits: z.number().optional(),
  creditsPerUnit: z.number().optional(),
  charges: chargesSchema.optional(),
  usageLimits: usageLimitsSchema.optional(),
  pack: packSchema.optional(),
  /** Their prices are not part of `price`, and their units are part of the limits. Absent if there are none. */
  addOns: z.array(attachedAddOnSchema).optional(),
})

export type PlanSnapshotBody = z.infer<typeof planSnapshotSchema>

export const purchaseUsageSchema = z.object({
  used: z.number(),
  /** Units above the plan's limit and the units that rolled over. */
  overageUnits: z.number(),
  /** Price of the period's usage so far, in minor units of `currency`, without tax, as the invoice would charge it. */
  overageCost: z.number(),
  /** Units that rolled over from the previous period, as known now. */
  carriedOverUnits: z.number(),
  /** For a customer with packs: the units that packs add to the period, and those of them that are left. */
  packUnits: z.number().optional(),
  packRemaining: z.number().optional(),
  periodStart: z.string().optional(),
  periodEnd: z.string().optional(),
  ...chargedUsageFields,
})

export type PurchaseUsageBody = z.infer<typeof purchaseUsageSchema>

const purchaseFields = {
  reference: z.string(),
  status: z.enum(purchaseStatuses),
  startDate: z.string(),
  endDate: z.string().optional(),
  /** USD cents. `originalAmount` is in minor units of `currency`. */
  amount: z.number(),
  originalAmount: z.number().optional(),
  currency: z.string(),
  exchangeRate: z.number().optional(),
  planSnapshot: planSnapshotSchema.optional(),
  usage: purchaseUsageSchema.optional(),
  /** Terms that the customer has instead of those of the plan. Absent if there are none. */
  overrides: shownOverridesSchema.optional(),
  isRecurring: z.boolean(),
  billingCycle: z.string().optional(),
  nextBillingDate: z.string().optional(),
  paidAt: z.string().optional(),
  /** The plan, or new terms of the same plan, that the purchase changes to on `startDate`. */
  scheduledPlan: z
    .object({
      ...{ reference: z.string(), name: z.string(), price: z.number(), currency: z.string() },
      startDate: z.string().optional(),
      /** How the change within the running period is billed. Absent if it takes effect with the renewal on `startDate`. */
      billing: z.enum(changeBillings).optional(),
      /** The migration of the plan that scheduled the change. */
      migrationRef: z.string().optional(),
      /** The add-ons beside the plan from then on. Absent if there are none. */
      addOns: z.array(attachedAddOnSchema).optional(),
    })
    .optional(),
  cancelledAt: z.string().optional(),
  cancellationReason: z.string().optional(),
  metadata: jsonObject.optional(),
  origin: z.enum(purchaseOrigins),
}

export const purchaseSchema = z.object({
  ...purchaseFields,
  customerRef: z.string(),
  customerEmail: z.string(),
  productRef: z.string(),
  productName: z.string().optional(),
  autoRenew: z.boolean().optional(),
  createdAt: z.string(),
})

export type PurchaseBody = z.infer<typeof purchaseSchema>

/** The form of a purchase inside a customer. */
export const purchaseBriefSchema = z.object({
  ...purchaseFields,
  productName: z.string(),
  productRef: z.string().optional(),
  planRef: z.string().optional(),
  planType: z.string().optional(),
})

export type PurchaseBriefBody = z.infer<typeof purchaseBriefSchema>

export const purchasesResponseSchema = z.object({ purchases: z.array(purchaseSchema) })

/** The body may be missing. */
export const purchaseCancelSchema = z.object({ reason: longText.optional() })

/** The complete purchase, with the fields of its plan that the brief form has. */
export const changedPurchaseSchema = z.object({
  ...purchaseSchema.shape,
  planRef: z.string().optional(),
  planType: z.string().optional(),
})

export type ChangedPurchaseBody = z.infer<typeof changedPurchaseSchema>

/** Clients fail if the purchase is missing. */
export const purchaseChangedResponseSchema = z.object({
  success: z.literal(true),
  purchase: changedPurchaseSchema,
  message: z.string().optional(),
})
