import { z } from 'zod'
import { reservationSecondsMax } from '../limits.ts'
import { optionalReference, positiveQuantity, requiredReference } from './fields.ts'
import { ignoring } from './known-names.ts'

/* `POST /v1/sdk/limits`. */

export const reserveSchema = z.object({
  units: positiveQuantity,
  /** Seconds after which the reservation ends by itself. A service may be configured to allow fewer. */
  ttlSeconds: z.int().min(1).max(reservationSecondsMax),
})

/** A client may name the plan that it expects; the answer does not depend on it. */
export const limitsRequestSchema = ignoring(
  z.object({
    customerRef: requiredReference,
    productRef: requiredReference,
    /** Any name is answered with `requests`: only that meter limits plans. */
    meterName: optionalReference.optional(),
    /** The older name of meterName. */
    usageType: optionalReference.optional(),
    includeCheckoutSession: z.boolean().default(false),
    /** Holds units for a call that is about to be made: within limits is then who has them left beside all others'. */
    reserve: reserveSchema.optional(),
    /** Names the reservation, so that a repeated request is told of the first one. */
    idempotencyKey: optionalReference.optional(),
  }),
  'planRef',
)

export type LimitsRequest = z.infer<typeof limitsRequestSchema>

const pricingOptionSchema = z.object({
  currency: z.string(),
  price: z.number(),
  basePrice: z.number().optional(),
  setupFee: z.number().optional(),
  default: z.boolean().optional(),
})

export const planOfferSchema = z.object({
  reference: z.string(),
  name: z.string().optional(),
  type: z.string(),
  price: z.number(),
  currency: z.string(),
  requiresPayment: z.boolean(),
  freeUnits: z.number().optional(),
  creditsPerUnit: z.number().optional(),
  billingModel: z.string().optional(),
  billingCycle: z.string().optional(),
  pricingOptions: z.array(pricingOptionSchema).optional(),
})

export const limitsBalanceSchema = z.object({
  creditBalance: z.number(),
  creditsPerUnit: z.number(),
  currency: z.string(),
  remainingUnits: z.number().optional(),
})

export type LimitsBalance = z.infer<typeof limitsBalanceSchema>

export const reservationSchema = z.object({
  id: z.string(),
  units: z.number(),
  /** ISO 8601. */
  expiresAt: z.string(),
})

export const limitsResponseSchema = z.object({
  withinLimits: z.boolean(),
  remaining: z.number(),
  /** What was asked for to be reserved and is held now. */
  reservation: reservationSchema.optional(),
  /** The active plan's reference, '' for none. */
  plan: z.string(),
  meterName: z.string().optional(),
  checkoutUrl: z.string().optional(),
  checkoutSessionId: z.string().optional(),
  /** Into the portal, where the plan can be accepted. Only for keys with the scope `manage`; others get checkoutUrl. */
  confirmationUrl: z.string().optional(),
  activationRequired: z.boolean().optional(),
  creditBalance: z.number().optional(),
  creditsPerUnit: z.number().optional(),
  currency: z.string().optional(),
  balance: limitsBalanceSchema.optional(),
  product: z.object({ reference: z.string(), name: z.string().optional() }).optional(),
  plans: z.array(planOfferSchema).optional(),
})

export type LimitsResponse = z.infer<typeof limitsResponseSchema>
