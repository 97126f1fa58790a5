import { z } from 'zod'
import { couponCode } from './coupons.ts'
import { customerSchema } from './customers.ts'
import { optionalReference, optionalWebAddress, requiredReference } from './fields.ts'
import { pageLocale } from './page-locale.ts'

/* Schemas of `/v1/sdk/customers/customer-sessions` and `POST /v1/sdk/checkout-sessions`. */

export const customerSessionCreateSchema = z.object({
  customerRef: requiredReference,
  productRef: optionalReference.optional(),
  locale: pageLocale.optional(),
})

export const customerSessionCreatedSchema = z.object({
  sessionId: z.string(),
  customerUrl: z.string(),
})

export const customerSessionSchema = z.object({
  sessionId: z.string(),
  status: z.enum(['active', 'expired', 'used']),
  customerUrl: z.string(),
  expiresAt: z.string(),
  customer: customerSchema,
  createdAt: z.string(),
  updatedAt: z.string(),
})

export const checkoutSessionCreateSchema = z.object({
  customerRef: requiredReference,
  /** Required unless the purpose is a top-up of credits. */
  productRef: optionalReference.optional(),
  /** Without it the customer chooses a plan. */
  planRef: optionalReference.optional(),
  returnUrl: optionalWebAddress.optional(),
  /** Code of a coupon that the checkout redeems. The customer can remove it. */
  couponCode: couponCode.optional(),
  purpose: z.enum(['product', 'credit_topup']).optional(),
  locale: pageLocale.optional(),
})

export type CheckoutSessionCreate = z.infer<typeof checkoutSessionCreateSchema>

export const checkoutSessionCreatedSchema = z.object({
  sessionId: z.string(),
  checkoutUrl: z.string(),
})
