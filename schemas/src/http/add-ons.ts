import { z } from 'zod'
import { addOnPlansMax, addOnQuantityMax, addOnRaisesMax, amountMinorMax } from '../limits.ts'
import { addOnRaiseSchema } from './add-on-terms.ts'
import { longText, oneLineName, pageQuery, queryBoolean, requiredReference } from './fields.ts'
import { purchaseSchema } from './purchases.ts'

/* Schemas of add-ons, which customers attach to a plan and pay for with each period. */

const changeable = {
  description: longText.nullable().optional(),
  /** Charged once when it is attached, in minor units. */
  setupFee: z.int().min(0).max(amountMinorMax).optional(),
  /** Maximum quantity of one customer. Default: the limit of the API. */
  maxQuantity: z.int().min(1).max(addOnQuantityMax).nullable().optional(),
  /** What one unit of the quantity raises. The units are for each period. */
  raises: z.array(addOnRaiseSchema).max(addOnRaisesMax).optional(),
}

const price = z.int().min(0).max(amountMinorMax)
const planRefs = z.array(requiredReference).min(1).max(addOnPlansMax)

export const createAddOnSchema = z.object({
  /** Printed on invoices. */
  name: oneLineName.min(1),
  /** Price of one for a period, in minor units of the currency of the plans. */
  price,
  /** Plans that customers can attach it to. They have one currency and one billing cycle. */
  planRefs,
  ...changeable,
})

export type CreateAddOnInput = z.infer<typeof createAddOnSchema>

/** A change applies to add-ons that are attached afterwards. */
export const updateAddOnSchema = z.object({
  name: oneLineName.min(1).optional(),
  price: price.optional(),
  planRefs: planRefs.optional(),
  ...changeable,
})

export type UpdateAddOnInput = z.infer<typeof updateAddOnSchema>

export const addOnsQuerySchema = z.object({
  /** `true`: only archived add-ons. Otherwise only add-ons that are not archived. */
  archived: queryBoolean.optional(),
  ...pageQuery,
})

export const addOnSchema = z.object({
  reference: z.string(),
  productRef: z.string(),
  name: z.string(),
  description: z.string().optional(),
  price: z.int(),
  setupFee: z.int(),
  currency: z.string(),
  billingCycle: z.string(),
  billingCycleDays: z.int().optional(),
  maxQuantity: z.int().optional(),
  raises: z.array(addOnRaiseSchema),
  planRefs: z.array(z.string()),
  archivedAt: z.string().optional(),
  createdAt: z.string(),
  updatedAt: z.string(),
})

export type AddOnBody = z.infer<typeof addOnSchema>

export const addOnsResponseSchema = z.object({ addOns: z.array(addOnSchema), total: z.int() })

export const addOnRemovedSchema = z.object({
  success: z.literal(true),
  /** Whether it was archived, because a customer has or had it. Otherwise it was deleted. */
  archived: z.boolean(),
})

/** `now`: within the running period. `renewal`: with the next renewal. */
export const addOnTimes = ['now', 'renewal'] as const

export type AddOnTime = (typeof addOnTimes)[number]

export const setAddOnSchema = z.object({
  quantity: z.int().min(1).max(addOnQuantityMax),
  /** Default: `now`. */
  when: z.enum(addOnTimes).optional(),
})

export const removeAddOnQuerySchema = z.object({
  /** Default: `renewal`. `now` credits the rest of the period. */
  when: z.enum(addOnTimes).optional(),
})

export const addOnChangedSchema = z.object({
  success: z.literal(true),
  /** The purchase after the change. A change within a period begins a purchase, as a change of plan does. */
  purchase: purchaseSchema,
  /** When the change takes effect. */
  effectiveAt: z.string(),
  /** The invoice of the change. Absent if the change costs nothing now. */
  invoiceRef: z.string().optional(),
  /** Whether the invoice is paid. `open`: its charge was declined, or is in progress, and is repeated like that of a renewal. */
  payment: z.enum(['paid', 'open']).optional(),
})
