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

/* `/v1/sdk/payment-intents`. */

export const intentPurposes = ['product', 'credit_topup', 'usage_billing'] as const

export const paymentIntentCreateSchema = z.object({
  customerRef: requiredReference,
  productRef: optionalReference.optional(),
  planRef: optionalReference.optional(),
  pricingTier: shortText.optional(),
  purpose: z.enum(intentPurposes).optional(),
  /** Of a top-up, in minor units of the currency. */
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
  /** USD cents; `originalAmount` is what is charged, in minor units of `currency`. */
  amount: z.number(),
  originalAmount: z.number().optional(),
  /** Lower case. */
  currency: z.string(),
  exchangeRate: z.number().optional(),
  status: z.enum(intentStatuses),
  /** For the customer's browser. Missing where the processor could not be asked for it. */
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
  /** How many these are. */
  total: z.number(),
})

/** The body says who asks and is not relied on. */
export const processPaymentSchema = z.object({
  customerRef: requiredReference,
  productRef: requiredReference.optional(),
  planRef: optionalReference.optional(),
})

export type ProcessPayment = z.infer<typeof processPaymentSchema>

/** Of a country: ISO 3166-1 alpha-2, any case. */
const countryText = shortText.max(10)

/** An empty text says the same as none. */
export const businessDetailsSchema = z.object({
  isBusiness: z.boolean(),
  /** The next four are of a business, and ignored where it is none. */
  businessName: shortText.optional(),
  /** Required of a business: a state of the EU, GB or US. */
  country: countryText.optional(),
  taxId: shortText.max(50).optional(),
  /** It follows from the country, whatever is said here. */
  taxIdType: z.enum(['eu_vat', 'gb_vat', 'us_ein']).optional(),
  customerRef: optionalReference.optional(),
  /** Where a customer is that is no business. Absent: where it was before. */
  customerCountry: countryText.optional(),
  customerName: shortText.max(100).optional(),
  /** Postal address for invoices. Absent: as before; empty: none. */
  address: addressText.optional(),
})

export const taxTreatments = ['standard', 'reverse_charge', 'none', 'not_collecting'] as const

export const taxedPaymentSchema = z.object({
  /** Amounts in minor units of `currency`; the total is what the payment is over from now on. */
  taxBreakdown: z.object({
    subtotal: z.number(),
    taxAmount: z.number(),
    /** A fraction: 0.25. */
    taxRate: z.number(),
    treatment: z.enum(taxTreatments),
    total: z.number(),
    /** Upper case. */
    currency: z.string(),
    /** Whether the price contained the tax. */
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

/** `cancelled` is written with two l here. */
export const processedPaymentSchema = z.object({
  status: z.enum(['succeeded', 'processing', 'timeout', 'failed', 'cancelled']),
  type: z.enum(['recurring', 'one-time']).optional(),
  purchase: purchaseBriefSchema.optional(),
  oneTimePurchase: oneTimePurchaseSchema.optional(),
  message: z.string().optional(),
})

export type ProcessedPaymentBody = z.infer<typeof processedPaymentSchema>

export const idempotencyKeySchema = z.string().min(1).max(idempotencyKeyCharsMax)
