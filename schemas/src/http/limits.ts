import { z } from 'zod'
import { chargeModels } from './charges.ts'
import { heldMetersMax, reservationSecondsMax } from '../limits.ts'
import { optionalReference, positiveQuantity, requiredReference } from './fields.ts'
import { ignoring } from './known-names.ts'
import { packSchema, packUnitsSchema } from './packs.ts'

/* Schemas of `POST /v1/sdk/limits`. */

/** Units by meter. zod's record drops a `__proto__` key before a check could refuse it, so the keys are checked before. */
const estimateSchema = z.preprocess(
  (units, context) => {
    if (typeof units === 'object' && units !== null && Object.hasOwn(units, '__proto__')) {
      context.addIssue({ code: 'custom', message: 'No meter has the name `__proto__`' })
    }
    return units
  },
  z
    .record(requiredReference, positiveQuantity)
    .refine((units) => isCountWithin(Object.keys(units).length), {
      error: `Expected 1 to ${heldMetersMax} meters`,
    }),
)

function isCountWithin(count: number): boolean {
  return count >= 1 && count <= heldMetersMax
}

export const reserveSchema = z
  .object({
    /** Units of the meter that the request names, or of `requests`. */
    units: positiveQuantity.optional(),
    /** Units by meter, for a call that uses several. Only for plans with charges. */
    estimate: estimateSchema.optional(),
    /** Credits of the wallet, without units. Only for plans that are paid from a wallet. */
    credits: positiveQuantity.optional(),
    /** Seconds until the reservation expires. A service may be configured with a lower maximum. */
    ttlSeconds: z.int().min(1).max(reservationSecondsMax),
  })
  .refine(
    ({ units, estimate, credits }) =>
      [units, estimate, credits].filter((given) => given !== undefined).length === 1,
    { error: 'Exactly one of `units`, `estimate` and `credits` is required', path: ['units'] },
  )

/** A client may name the plan that it expects. The response does not depend on it. */
export const limitsRequestSchema = ignoring(
  z.object({
    customerRef: requiredReference,
    productRef: requiredReference,
    /**
     * The meter that the call uses. Without charges, a plan limits only `requests`, and any name is answered with it. With charges,
     * only the limits of this meter decide, or all limits if none is named.
     */
    meterName: optionalReference.optional(),
    /** Former name of meterName. */
    usageType: optionalReference.optional(),
    includeCheckoutSession: z.boolean().default(false),
    /** Lists the limits of every charge. Plans without charges have no list. */
    includeLimits: z.boolean().optional(),
    /** Holds units for a planned call. The customer is within limits if the units are available beside all other reservations. */
    reserve: reserveSchema.optional(),
    /** Names the reservation, so that a repeated request returns the first one. */
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

/** A charge of an offered plan. Prices of tiers and of rows of a matrix are in the plan itself. */
const offeredChargeSchema = z.object({
  charge: z.string(),
  meterName: z.string(),
  model: z.enum(chargeModels),
  displayName: z.string().optional(),
  /** Minor units of `currency` for one unit or package. */
  price: z.string().optional(),
  creditsPerUnit: z.string().optional(),
  unitsPerPackage: z.number().optional(),
  included: z.number().optional(),
  cap: z.number().optional(),
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
  /** Set for packs, which are bought beside a running plan. */
  pack: packSchema.optional(),
  pricingOptions: z.array(pricingOptionSchema).optional(),
  /** Only for plans with charges. */
  charges: z.array(offeredChargeSchema).optional(),
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
  /** Units of the meter that the request named, or of the first one of its estimate. 0 if it holds credits. */
  units: z.number(),
  /** The held credits, if the request was for credits. */
  credits: z.number().optional(),
  /** Time of the expiry in ISO 8601. */
  expiresAt: z.string(),
})

/** Why further usage is refused: the cap is used up, or the wallet cannot pay for one more unit. */
const limitReasons = ['cap', 'credits'] as const

/** A budget of the customer refuses calls of every meter. */
const blockReasons = [...limitReasons, 'budget'] as const

/** One limit of a plan with charges. */
export const limitSchema = z.object({
  /** Name of the charge, or of the limit of the plan. */
  limit: z.string(),
  meterName: z.string(),
  /** Units of the period or of the limit's window. Absent for a charge without a cap. */
  cap: z.number().optional(),
  used: z.number().optional(),
  /** When the period or calendar window ends, or the rolling window has room again, in ISO 8601. */
  resetsAt: z.string().optional(),
  /** Units that the cap and the wallet leave. Absent for any number. */
  remaining: z.number().optional(),
  /** Present if the limit refuses further usage. */
  blocks: z.enum(limitReasons).optional(),
})

export type LimitBody = z.infer<typeof limitSchema>

export const limitsResponseSchema = z.object({
  withinLimits: z.boolean(),
  remaining: z.number(),
  /** The requested reservation, if it was made. */
  reservation: reservationSchema.optional(),
  /** Reference of the active plan, or '' for none. */
  plan: z.string(),
  meterName: z.string().optional(),
  checkoutUrl: z.string().optional(),
  checkoutSessionId: z.string().optional(),
  /** Link to the portal, where the customer can accept the plan. Only for keys with the scope `manage`; others get checkoutUrl. */
  confirmationUrl: z.string().optional(),
  activationRequired: z.boolean().optional(),
  creditBalance: z.number().optional(),
  creditsPerUnit: z.number().optional(),
  currency: z.string().optional(),
  balance: limitsBalanceSchema.optional(),
  /** The limit that refuses the call. Only for plans with charges, and for a budget of the customer on any plan. */
  blockedBy: z
    .object({ reason: z.enum(blockReasons), limit: z.string(), meterName: z.string() })
    .optional(),
  /** When the cap that refuses the call has room again, in ISO 8601. */
  resetsAt: z.string().optional(),
  /** What the plan and packs leave, by meter. Only for customers with packs. `remaining` includes packs. */
  packs: z.array(packUnitsSchema).optional(),
  /** Every limit, if the request asks for them. */
  limits: z.array(limitSchema).optional(),
  product: z.object({ reference: z.string(), name: z.string().optional() }).optional(),
  plans: z.array(planOfferSchema).optional(),
})

export type LimitsResponse = z.infer<typeof limitsResponseSchema>
