import { z } from 'zod'
import { dateOrInstant, optionalReference, pageQuery } from './fields.ts'
import { granularities } from './meters.ts'

/* Schemas of usage in the console: by hour, as far as it is stored. Limits and invoices use exact records instead. */

const rangeFields = {
  /** The start is rounded down to the hour. */
  from: dateOrInstant,
  /** The end is rounded up to the hour. */
  to: dateOrInstant,
  /** Default: the meter of limit checks. */
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

/** Groups with the most usage come first. */
export const usageBreakdownSchema = z.object({
  by: z.enum(usageGroupings),
  ...range,
  groups: z.array(
    z.object({
      /** Reference of the customer or product, or name of the meter. */
      reference: z.string(),
      /** Display name. Missing if the customer or product no longer exists. */
      name: z.string().optional(),
      value: z.number(),
      count: z.int(),
    }),
  ),
})

export type UsageBreakdownBody = z.infer<typeof usageBreakdownSchema>
