import { z } from 'zod'
import { environments } from '../environment.ts'
import { grantCreditsMax, grantPriorityMax } from '../limits.ts'
import { longText, storedInstantText } from './fields.ts'

/* `GET /v1/sdk/customers/{reference}/balance` and `POST /v1/sdk/customers/{reference}/credits`. */

export const balanceSchema = z.object({
  customerRef: z.string(),
  /** Whole credits. */
  credits: z.number(),
  displayCurrency: z.string(),
  creditsPerMinorUnit: z.number(),
  /** Units of the display currency for one US dollar. */
  displayExchangeRate: z.number(),
  /** To be shown as it is. */
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
  /** When what is left of them is gone. Default: never. */
  expiresAt: storedInstantText.optional(),
  /** Of a wallet's grants the one with the smallest number is used first, then what expires first, then the oldest. */
  priority: z.int().min(-grantPriorityMax).max(grantPriorityMax).optional(),
})

export const creditsGrantedSchema = z.object({
  success: z.literal(true),
  customerRef: z.string(),
  /** What was put in. */
  credits: z.number(),
  /** What there is now. */
  balance: z.number(),
  reason: z.string().optional(),
  expiresAt: z.string().optional(),
  priority: z.int().optional(),
})

export type CreditsGrantedBody = z.infer<typeof creditsGrantedSchema>

/* `POST /v1/ui/customers/{reference}/credits/adjustments`. */

export const adjustCreditsSchema = z.object({
  /** Put in, or taken out where it is negative. */
  amount: z
    .int()
    .min(-grantCreditsMax)
    .max(grantCreditsMax)
    .refine((amount) => amount !== 0, 'An adjustment of nothing changes nothing'),
  /** For whoever wonders later. */
  reason: longText.min(1),
})

export const creditsAdjustedSchema = z.object({
  success: z.literal(true),
  customerRef: z.string(),
  /** What was put in; negative: taken out. */
  credits: z.number(),
  /** What there is now. */
  balance: z.number(),
  reason: z.string(),
})

export type CreditsAdjustedBody = z.infer<typeof creditsAdjustedSchema>

/**
 * The data plane's own, where it cannot write to the hot state: with the secret of the data folder as its bearer, and of
 * no contract with clients. Amounts as decimal text.
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
