import { z } from 'zod'
import { dateOrInstant, optionalReference, pageQuery } from './fields.ts'
import { granularities } from './meters.ts'
import { purchaseStatuses } from './purchases.ts'

/* What the console shows of usage: by the hour, and as far as it is stored. Limits and bills go by exact records. */

const rangeFields = {
  /** Rounded down to the hour. */
  from: dateOrInstant,
  /** Rounded up to the hour. */
  to: dateOrInstant,
  /** Default: the meter that limits are counted on. */
  meterRef: optionalReference.optional(),
  productRef: optionalReference.optional(),
  customerRef: optionalReference.optional(),
}

export const usageQuerySchema = z.object({
  ...rangeFields,
  granularity: z.enum(granularities).optional(),
})

const sums = { total: z.number(), count: z.int() }
const range = { from: z.string(), to: z.string() }
const bucket = z.object({ start: z.string(), end: z.string(), value: z.number(), count: z.int() })

export const usageOverTimeSchema = z.object({
  meterName: z.string(),
  ...range,
  ...sums,
  buckets: z.array(bucket).optional(),
})

export type UsageOverTimeBody = z.infer<typeof usageOverTimeSchema>

export const usageGroupings = ['customer', 'product', 'meter'] as const
export type UsageGrouping = (typeof usageGroupings)[number]

export const usageBreakdownQuerySchema = z.object({
  ...rangeFields,
  by: z.enum(usageGroupings),
  limit: pageQuery.limit,
})

/** Those with the most usage first. */
export const usageBreakdownSchema = z.object({
  by: z.enum(usageGroupings),
  ...range,
  groups: z.array(
    z.object({
      /** Of the customer or the product, or the name of the meter. */
      reference: z.string(),
      /** What people know it by; missing where there is no such customer or product any more. */
      name: z.string().optional(),
      value: z.number(),
      count: z.int(),
    }),
  ),
})

export type UsageBreakdownBody = z.infer<typeof usageBreakdownSchema>

export const overviewSchema = z.object({
  customers: z.int(),
  products: z.int(),
  purchases: z.record(z.enum(purchaseStatuses), z.int()),
  /** Of the last 30 days, by day; missing while it cannot be read. */
  usage: usageOverTimeSchema.optional(),
})
