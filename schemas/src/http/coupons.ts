import { z } from 'zod'
import { amountMinorMax, couponCodeCharsMax, couponScopeMax, redemptionsMax } from '../limits.ts'
import {
  currencyCode,
  oneLineName,
  pageQuery,
  queryBoolean,
  requiredReference,
  storedInstantText,
} from './fields.ts'

/* Schemas of coupons, and of the discounts that customers have by them. */

/** Letters, digits, `-` and `_`. Upper and lower case are the same. */
export const couponCode = z
  .string()
  .max(couponCodeCharsMax)
  .regex(/^[A-Za-z0-9_-]+$/, { error: 'Expected letters, digits, - and _' })

const redemptions = z.int().min(1).max(redemptionsMax)

/** What can change afterwards. Null removes a limit. */
const changeable = {
  /** How often it can be redeemed. */
  maxRedemptions: redemptions.nullable().optional(),
  maxRedemptionsPerCustomer: redemptions.nullable().optional(),
  /** Last instant at which it can be redeemed. */
  redeemBy: storedInstantText.nullable().optional(),
}

export const createCouponSchema = z
  .object({
    /** What customers type in checkouts. Without it, only you give the coupon. */
    code: couponCode.optional(),
    /** Printed on invoices. */
    name: oneLineName.min(1),
    /** With at most 2 decimals. */
    percentOff: z
      .number()
      .gt(0)
      .max(100)
      .refine((percent) => Number(percent.toFixed(2)) === percent, {
        error: 'At most 2 decimals are allowed',
      })
      .optional(),
    /** In minor units of `currency`. */
    amountOff: z.int().min(1).max(amountMinorMax).optional(),
    /** For `amountOff`. Only invoices in this currency are discounted. */
    currency: currencyCode.optional(),
    duration: z.enum(['once', 'repeating', 'forever']),
    /** For `repeating`: number of invoices. */
    durationInvoices: z.int().min(1).max(1_000).optional(),
    /** Products whose plans are discounted. Without products and plans, everything is. */
    productRefs: z.array(requiredReference).min(1).max(couponScopeMax).optional(),
    /** Plans that are discounted. */
    planRefs: z.array(requiredReference).min(1).max(couponScopeMax).optional(),
    ...changeable,
  })
  .refine(({ percentOff, amountOff }) => (percentOff === undefined) !== (amountOff === undefined), {
    error: 'Exactly one of `percentOff` and `amountOff` is required',
    path: ['percentOff'],
  })
  .refine(({ amountOff, currency }) => (amountOff === undefined) === (currency === undefined), {
    error: '`currency` goes with `amountOff`',
    path: ['currency'],
  })
  .refine(
    ({ duration, durationInvoices }) =>
      (duration === 'repeating') === (durationInvoices !== undefined),
    { error: '`durationInvoices` goes with `repeating`', path: ['durationInvoices'] },
  )
  .refine(({ productRefs, planRefs }) => productRefs === undefined || planRefs === undefined, {
    error: 'Give either products or plans',
    path: ['planRefs'],
  })

export type CreateCouponInput = z.infer<typeof createCouponSchema>

export const updateCouponSchema = z.object({ name: oneLineName.min(1).optional(), ...changeable })

export const couponsQuerySchema = z.object({
  /** Only the coupon with this code. */
  code: couponCode.optional(),
  /** `true`: only archived coupons. Otherwise only those that are not. */
  archived: queryBoolean.optional(),
  ...pageQuery,
})

export const couponSchema = z.object({
  reference: z.string(),
  code: z.string().optional(),
  name: z.string(),
  percentOff: z.number().optional(),
  amountOff: z.number().optional(),
  currency: z.string().optional(),
  duration: z.enum(['once', 'repeating', 'forever']),
  durationInvoices: z.int().optional(),
  productRefs: z.array(z.string()).optional(),
  planRefs: z.array(z.string()).optional(),
  maxRedemptions: z.int().optional(),
  maxRedemptionsPerCustomer: z.int().optional(),
  redeemBy: z.string().optional(),
  /** How often it was redeemed. Payments that are not made yet are not counted. */
  redemptions: z.int(),
  archivedAt: z.string().optional(),
  createdAt: z.string(),
  updatedAt: z.string(),
})

export type CouponBody = z.infer<typeof couponSchema>

export const couponsResponseSchema = z.object({ coupons: z.array(couponSchema), total: z.int() })

export const addDiscountSchema = z
  .object({
    /** Reference of the coupon. */
    couponRef: requiredReference.optional(),
    /** Code of the coupon, instead of its reference. */
    code: couponCode.optional(),
    /** Only the invoices of this purchase are discounted. Without it, all invoices of the customer. */
    purchaseRef: requiredReference.optional(),
  })
  .refine(({ couponRef, code }) => (couponRef === undefined) !== (code === undefined), {
    error: 'Exactly one of `couponRef` and `code` is required',
    path: ['couponRef'],
  })

export const discountSchema = z.object({
  reference: z.string(),
  coupon: couponSchema.omit({ redemptions: true }),
  customerRef: z.string(),
  /** Absent if all invoices of the customer are discounted. */
  purchaseRef: z.string().optional(),
  /** `ended`: it was removed, or has discounted all of its invoices. */
  status: z.enum(['active', 'ended']),
  /** Number of invoices that it will still discount. Absent if it has no end. */
  invoicesLeft: z.int().optional(),
  /** Who redeemed it, as in the audit log. */
  redeemedBy: z.string(),
  removedAt: z.string().optional(),
  createdAt: z.string(),
})

export type DiscountBody = z.infer<typeof discountSchema>

export const discountsResponseSchema = z.object({ discounts: z.array(discountSchema) })
