import { z } from 'zod'
import { grantCreditsMax } from '../limits.ts'
import { longText } from './fields.ts'

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
})

export const creditsGrantedSchema = z.object({
  success: z.literal(true),
  customerRef: z.string(),
  /** What was put in. */
  credits: z.number(),
  /** What there is now. */
  balance: z.number(),
  reason: z.string().optional(),
})

export type CreditsGrantedBody = z.infer<typeof creditsGrantedSchema>

/** `POST /v1/sdk/credit-holds`: the data plane's own, where it cannot write to the hot state. Amounts as decimal text. */
export const creditHoldsSchema = z.object({
  holds: z
    .array(
      z.object({
        customerRef: z.string().min(1),
        usageRef: z.string().min(1),
        dueMicros: z.string().regex(/^\d{1,40}$/),
      }),
    )
    .min(1)
    .max(1000),
})

export type CreditHoldsInput = z.infer<typeof creditHoldsSchema>

export const creditHoldsPath = '/v1/sdk/credit-holds'

export const creditHoldsResponseSchema = z.object({
  taken: z.array(z.object({ takenMicros: z.string(), leftMicros: z.string() })),
})
