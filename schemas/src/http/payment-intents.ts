import { z } from 'zod'
import { idempotencyKeyCharsMax, topUpMinorMax, topUpMinorMin } from '../limits.ts'
import { autoRechargeOfIntentSchema } from './auto-recharge.ts'
import {
  addressText,
  currencyCode,
  optionalReference,
  pageQuery,
  requiredReference,
  shortText,
} from './fields.ts'
import { purchaseBriefSchema } from './purchases.ts'
import { taxIdTypes } from './tax-details.ts'

/* Schemas of `/v1/sdk/payment-intents`. */

export const intentPurposes = ['product', 'credit_topup', 'usage_billing'] as const

export const paymentIntentCreateSchema = z.object({
  customerRef: requiredReference,
  productRef: optionalReference.optional(),
  planRef: optionalReference.optional(),
  pricingTier: shortText.optional(),
  purpose: z.enum(intentPurposes).optional(),
  /** Amount of a top-up in minor units of the currency. */
  amount: z.int().min(topUpMinorMin).max(topUpMinorMax).optional(),
  currency: currencyCode.optional(),
  description: shortText.max(500).optional(),
  autoRecharge: autoRechargeOfIntentSchema.optional(),
})

export type PaymentIntentCreate = z.infer<typeof paymentIntentCreateSchema>

export const intentStatuses = [
  'requires_payment_method',
  'requires_action',
  'processing',
  'succeeded',
  'canceled',
  'failed',
] as const

export const paymentIntentSchema = z.object({
  processorPaymentId: z.string(),
  planRef: z.string().optional(),
  customerRef: z.string().optional(),
  /** USD cents. `originalAmount` is the charged amount in minor units of `currency`. */
  amount: z.number(),
  originalAmount: z.number().optional(),
  /** The part of the price that the credit of the customer's balance pays, in minor units of `currency`. */
  fromBalance: z.number().optional(),
  /** ISO 4217 in lower case. */
  currency: z.string(),
  exchangeRate: z.number().optional(),
  status: z.enum(intentStatuses),
  /** Client secret for the customer's browser. Missing if the processor could not be queried. */
  clientSecret: z.string().optional(),
  publishableKey: z.string(),
  transactionId: z.string().optional(),
  expiresAt: z.string().optional(),
  createdAt: z.string().optional(),
})

export type PaymentIntentBody = z.infer<typeof paymentIntentSchema>

export const paymentIntentsQuerySchema = z.object(pageQuery)

export const paymentIntentsResponseSchema = z.object({
  paymentIntents: z.array(
    paymentIntentSchema.pick({
      processorPaymentId: true,
      planRef: true,
      amount: true,
      currency: true,
      status: true,
      createdAt: true,
    }),
  ),
  /** Number of the payment intents in this response. */
  total: z.number(),
})

/** The references name the payment's customer, product and plan, and are only compared with it. */
export const processPaymentSchema = z.object({
  customerRef: requiredReference,
  productRef: requiredReference.optional(),
  planRef: optionalReference.optional(),
})

export type ProcessPayment = z.infer<typeof processPaymentSchema>

/** ISO 3166-1 alpha-2 code of a country, in any case. */
const countryText = shortText.max(10)

/** An empty text means the same as a missing one. */
export const businessDetailsSchema = z.object({
  isBusiness: z.boolean(),
  /** The next four fields belong to a business, and are ignored otherwise. */
  businessName: shortText.optional(),
  /** Required for a business: a state of the EU, AU, CA, CH, GB, NO, NZ or US. */
  country: countryText.optional(),
  taxId: shortText.max(50).optional(),
  /** The type is derived from the country, and this value is ignored. */
  taxIdType: z.enum(taxIdTypes).optional(),
  customerRef: optionalReference.optional(),
  /** Country of a customer that is not a business. Absent: unchanged. */
  customerCountry: countryText.optional(),
  /** Province or territory, such as ON for Ontario. Required in Canada, and ignored elsewhere. */
  region: shortText.max(10).optional(),
  customerName: shortText.max(100).optional(),
  /** Postal address for invoices. Absent: unchanged. Empty: none. */
  address: addressText.optional(),
})

export const taxTreatments = ['standard', 'reverse_charge', 'none', 'not_collecting'] as const

export const taxedPaymentSchema = z.object({
  /** Amounts in minor units of `currency`. The total is the new amount of the payment. */
  taxBreakdown: z.object({
    subtotal: z.number(),
    taxAmount: z.number(),
    /** A fraction such as 0.25. */
    taxRate: z.number(),
    treatment: z.enum(taxTreatments),
    total: z.number(),
    /** ISO 4217 in upper case. */
    currency: z.string(),
    /** True if the price included the tax. */
    inclusive: z.boolean(),
  }),
})

export type TaxedPaymentBody = z.infer<typeof taxedPaymentSchema>

const oneTimePurchaseSchema = z.object({
  reference: z.string(),
  productRef: z.string().optional(),
  amount: z.number(),
  currency: z.string(),
  creditsAdded: z.number().optional(),
  completedAt: z.string(),
})

/** The status `cancelled` has two l here. */
export const processedPaymentSchema = z.object({
  status: z.enum(['succeeded', 'processing', 'timeout', 'failed', 'cancelled']),
  type: z.enum(['recurring', 'one-time']).optional(),
  purchase: purchaseBriefSchema.optional(),
  oneTimePurchase: oneTimePurchaseSchema.optional(),
  message: z.string().optional(),
})

export type ProcessedPaymentBody = z.infer<typeof processedPaymentSchema>

export const idempotencyKeySchema = z.string().min(1).max(idempotencyKeyCharsMax)
