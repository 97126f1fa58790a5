import { z } from 'zod'
import { currencyCode, emailText, requiredReference, shortText } from './fields.ts'
import { ignoring } from './known-names.ts'

/* Schemas of `/v1/sdk/auto-recharge`, `GET /v1/sdk/payment-method` and `/v1/ui/exchange-rates`. */

export const autoRechargeQuerySchema = z.object({ customerRef: requiredReference })

/** Older releases limited the number of charges instead of their sum. */
const ignoredFields = ['maxRecharges', 'rechargeCount']

export const autoRechargeUpdateSchema = ignoring(
  z.object({
    customerRef: requiredReference,
    enabled: z.boolean(),
    triggerType: z.literal('balance'),
    /** Currency of the top-up. */
    currency: currencyCode,
    /** Amount in the currency in which the balance is displayed. */
    thresholdAmountMajor: z.number().min(0).optional(),
    topupAmountMajor: z.number().min(0).optional(),
    maxMonthlySpendMajor: z.number().min(0).max(1_000_000_000).optional(),
    deferSetupIntent: z.boolean().optional(),
    customerEmail: emailText.optional(),
    customerName: shortText.optional(),
  }),
  ...ignoredFields,
)

/** The same settings as part of a payment intent, which already names the customer. */
export const autoRechargeOfIntentSchema = ignoring(
  autoRechargeUpdateSchema.omit({ customerRef: true }),
  ...ignoredFields,
)

export type AutoRechargeUpdate = z.infer<typeof autoRechargeUpdateSchema>

const autoRechargeConfigSchema = z.object({
  enabled: z.boolean(),
  trigger: z.object({ type: z.literal('balance'), thresholdAmountMinor: z.number() }),
  topup: z.object({ mode: z.literal('fixed'), amountMinor: z.number(), currency: z.string() }),
  fundingSourceType: z.enum(['saved_card', 'tokenized_card']),
  status: z.enum(['active', 'disabled', 'failed', 'pending_setup']),
  failureCount: z.number(),
  monthlySpendMinor: z.number(),
  updatedAt: z.string(),
  maxMonthlySpendMinor: z.number().optional(),
  monthlySpendPeriod: z.string().optional(),
  paymentMethodId: z.string().optional(),
  inFlightPaymentIntentId: z.string().optional(),
  lastChargeAt: z.string().optional(),
  lockAcquiredAt: z.string().optional(),
})

export type AutoRechargeConfigBody = z.infer<typeof autoRechargeConfigSchema>

export const rateSources = ['parity', 'db', 'fallback'] as const

const autoRechargeDisplaySchema = z.object({
  thresholdAmountMajor: z.number(),
  topupAmountMajor: z.number(),
  currency: z.string(),
  formatted: z.object({ threshold: z.string(), topup: z.string() }),
  exchangeRate: z.number(),
  rateSource: z.enum(rateSources),
})

export type AutoRechargeDisplayBody = z.infer<typeof autoRechargeDisplaySchema>

export const autoRechargeResponseSchema = z.object({
  config: autoRechargeConfigSchema.nullable(),
  display: autoRechargeDisplaySchema.optional(),
  validation: z.object({
    maxAmountMajor: z.number(),
    processorMinimumMinorByCurrency: z.record(z.string(), z.number()),
  }),
})

export type AutoRechargeResponse = z.infer<typeof autoRechargeResponseSchema>

export const autoRechargeUpdatedResponseSchema = z.object({
  config: autoRechargeConfigSchema,
  display: autoRechargeDisplaySchema.optional(),
  /** Client secret for the customer's browser, if a card must be set up first. */
  setupClientSecret: z.string().optional(),
  publishableKey: z.string().optional(),
})

export const autoRechargeDeletedResponseSchema = z.object({ success: z.literal(true) })

export const paymentMethodSchema = z.union([
  z.object({ kind: z.literal('none') }),
  z.object({
    kind: z.literal('card'),
    brand: z.string(),
    last4: z.string(),
    expMonth: z.number(),
    expYear: z.number(),
    reusable: z.boolean(),
  }),
])

export type PaymentMethodBody = z.infer<typeof paymentMethodSchema>

/** Units of the currency per US dollar, as decimal text so that no digit is lost. */
export const exchangeRateSchema = z.object({
  currency: z.string(),
  unitsPerDollar: z.string(),
  source: z.enum(rateSources),
})

export const exchangeRatesResponseSchema = z.object({ exchangeRates: z.array(exchangeRateSchema) })

export const exchangeRateUpdateSchema = z.object({
  unitsPerDollar: z
    .string()
    .regex(/^\d{1,9}(?:\.\d{1,9})?$/, {
      error: 'Expected a decimal number as text, such as "9.46"',
    })
    .refine((text) => /[1-9]/.test(text), { error: 'Expected more than 0' }),
})

/**
 * Path with which the data plane asks the control plane to start a charge for a wallet that a debit may have taken below its
 * threshold. It is not part of the contract with clients. A caller learns nothing, and the payment job would start the same charge
 * a moment later.
 */
export const rechargeBeginningsPath = '/v1/sdk/auto-recharge/beginnings'

export const rechargeBeginningSchema = z.object({ customerRef: requiredReference })

/** Why no charge was started. `counters_behind`: the current usage cannot be read. */
export type RechargeRefusal =
  | 'enough'
  | 'counters_behind'
  | 'in_flight'
  | 'declined'
  | 'no_card'
  | 'capped'
  | 'monthly_cap_too_low'
  | 'exchange_rate_missing'
  | 'not_active'
  | 'no_processor'

/**
 * `reason` is in every response without a charge. It may be any text, since the control plane may have a newer release than its
 * caller.
 */
export const rechargeBegunSchema = z.object({
  triggered: z.boolean(),
  reason: z.string().optional(),
})
