import { z } from 'zod'
import { pageQuery, shortText } from './fields.ts'
import { ignoring } from './known-names.ts'
import { planFields, planName, planStatuses, planTypes } from './plan-terms.ts'

/* Schemas of `/v1/sdk/products/{productRef}/plans`. */

/** The path names the product, and the terms determine whether a plan requires payment. */
const ignoredFields = ['productRef', 'requiresPayment']

export const planCreateSchema = ignoring(
  z.object({
    /** Older clients omit it. The plan is then named after its type. */
    name: planName.optional(),
    /** A missing or unknown type means recurring. */
    type: shortText.optional(),
    ...planFields,
  }),
  ...ignoredFields,
)

export type PlanCreateInput = z.infer<typeof planCreateSchema>

/** The type of a plan never changes. */
export const planUpdateSchema = ignoring(
  z.object({ name: planName.optional(), ...planFields }),
  'type',
  ...ignoredFields,
)

export type PlanUpdateInput = z.infer<typeof planUpdateSchema>

export const plansQuerySchema = z.object(pageQuery)

export const planSchema = z.object({
  ...planFields,
  reference: z.string(),
  name: z.string(),
  type: z.enum(planTypes),
  price: z.number(),
  currency: z.string(),
  currencySymbol: z.string(),
  requiresPayment: z.boolean(),
  isActive: z.boolean(),
  hidden: z.boolean(),
  default: z.boolean(),
  status: z.enum(planStatuses),
  /** Units of one period that cost at most `maxUnbilledMinor`, at the exchange rate of the time when the plan was saved. */
  maxUnbilledUnits: z.number().optional(),
  measures: z.string().optional(),
  meterRef: z.string().optional(),
  createdAt: z.string(),
  updatedAt: z.string(),
})

export type PlanBody = z.infer<typeof planSchema>

export const plansResponseSchema = z.object({
  plans: z.array(planSchema),
  total: z.int(),
  limit: z.int(),
  offset: z.int(),
})

export const deletedResponseSchema = z.object({ success: z.literal(true) })
