import { z } from 'zod'
import {
  dateOrInstant,
  longText,
  optionalReference,
  requiredReference,
  shortText,
} from './fields.ts'

/* Schemas of `/v1/ui/meters` and `/ui/meters/{meterRef}/usage`. */

export const aggregations = ['count', 'sum'] as const
export type Aggregation = (typeof aggregations)[number]

export const meterStatuses = ['active', 'archived'] as const
export type MeterStatus = (typeof meterStatuses)[number]

export const meterCreateSchema = z.object({
  name: requiredReference,
  displayName: shortText.optional(),
  description: longText.optional(),
  aggregation: z.enum(aggregations).default('sum'),
  unit: shortText.optional(),
})

export type MeterCreateInput = z.infer<typeof meterCreateSchema>

export const meterUpdateSchema = z.object({
  displayName: shortText.optional(),
  description: longText.optional(),
  unit: shortText.optional(),
  status: z.enum(meterStatuses).optional(),
})

export type MeterUpdateInput = z.infer<typeof meterUpdateSchema>

export const meterSchema = z.object({
  reference: z.string(),
  name: z.string(),
  displayName: z.string(),
  description: z.string().optional(),
  aggregation: z.enum(aggregations),
  unit: z.string(),
  status: z.enum(meterStatuses),
})

export type MeterBody = z.infer<typeof meterSchema>

export const metersResponseSchema = z.object({ meters: z.array(meterSchema) })

export const granularities = ['hour', 'day', 'week', 'month'] as const
export type Granularity = (typeof granularities)[number]

/** The range is half-open: [from, to). */
export const meterUsageQuerySchema = z.object({
  from: dateOrInstant,
  to: dateOrInstant,
  customerRef: optionalReference.optional(),
  granularity: z.enum(granularities).optional(),
  /** Default: the records that count for limits and billing. */
  outcome: z.enum(['success', 'paywall', 'fail', 'all']).optional(),
})

export type MeterUsageQuery = z.infer<typeof meterUsageQuerySchema>

export const meterUsageResponseSchema = z.object({
  meterRef: z.string(),
  meterName: z.string(),
  customerRef: z.string().optional(),
  from: z.string(),
  to: z.string(),
  total: z.number(),
  count: z.int(),
  granularity: z.enum(granularities).optional(),
  buckets: z
    .array(z.object({ start: z.string(), end: z.string(), value: z.number(), count: z.int() }))
    .optional(),
})

export type MeterUsageResponse = z.infer<typeof meterUsageResponseSchema>
