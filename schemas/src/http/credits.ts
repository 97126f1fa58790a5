import { z } from 'zod'
import { environments } from '../environment.ts'
import { grantCreditsMax, grantPriorityMax } from '../limits.ts'
import { longText, storedInstantText } from './fields.ts'

/* Schemas of `GET /v1/sdk/customers/{reference}/balance` and `POST /v1/sdk/customers/{reference}/credits`. */

export const balanceSchema = z.object({
  customerRef: z.string(),
  /** Whole credits. */
  credits: z.number(),
  displayCurrency: z.string(),
  creditsPerMinorUnit: z.number(),
  /** Units of the display currency per US dollar. */
  displayExchangeRate: z.number(),
  /** Values to display unchanged. */
  display: z.object({
    amountMajor: z.number(),
    currency: z.string(),
    formatted: z.string(),
    exchangeRate: z.number(),
    rateSource: z.enum(['parity', 'db', 'fallback']),
  }),
})

export type BalanceBody = z.infer<typeof balanceSchema>

export const grantCreditsSchema = z.object({
  credits: z.int().min(1).max(grantCreditsMax),
  reason: longText.optional(),
  /** Time at which the unused rest expires. Default: never. */
  expiresAt: storedInstantText.optional(),
  /** Grants of a wallet are used by ascending priority, then by expiry, then by age. */
  priority: z.int().min(-grantPriorityMax).max(grantPriorityMax).optional(),
})

export const creditsGrantedSchema = z.object({
  success: z.literal(true),
  customerRef: z.string(),
  /** Granted credits. */
  credits: z.number(),
  /** Balance after the grant. */
  balance: z.number(),
  reason: z.string().optional(),
  expiresAt: z.string().optional(),
  priority: z.int().optional(),
})

export type CreditsGrantedBody = z.infer<typeof creditsGrantedSchema>

/* Schemas of `POST /v1/ui/customers/{reference}/credits/adjustments`. */

export const adjustCreditsSchema = z.object({
  /** Credits to add, or to remove if negative. */
  amount: z
    .int()
    .min(-grantCreditsMax)
    .max(grantCreditsMax)
    .refine((amount) => amount !== 0, 'An adjustment of nothing changes nothing'),
  /** Reason for later readers of the wallet's history. */
  reason: longText.min(1),
})

export const creditsAdjustedSchema = z.object({
  success: z.literal(true),
  customerRef: z.string(),
  /** Added credits, negative if they were removed. */
  credits: z.number(),
  /** Balance after the adjustment. */
  balance: z.number(),
  reason: z.string(),
})

export type CreditsAdjustedBody = z.infer<typeof creditsAdjustedSchema>

/**
 * Path with which the data plane holds credits through the control plane, if it cannot write to the hot state. The bearer token is
 * the secret of the data folder. It is not part of the contract with clients. Amounts are decimal text.
 */
export const creditHoldsPath = '/internal/credit-holds'

export const creditHoldsSchema = z.object({
  environment: z.enum(environments),
  providerId: z.string().min(1),
  holds: z
    .array(
      z.object({
        customerRef: z.string().min(1),
        usageRef: z.string().min(1),
        dueMicros: z.string().regex(/^\d{1,40}$/),
        isKeyed: z.boolean(),
        reservationId: z.string().nullable().default(null),
      }),
    )
    .min(1)
    .max(1000),
})

export type CreditHoldsInput = z.infer<typeof creditHoldsSchema>

export const creditHoldsResponseSchema = z.object({
  taken: z.array(
    z.object({
      takenMicros: z.string(),
      leftMicros: z.string(),
      recharge: z.object({ belowMicros: z.string(), grantedMicros: z.string() }).optional(),
    }),
  ),
})
