import { z } from 'zod'
import { exploredMetersMax } from '../limits.ts'
import {
  dateOrInstant,
  nameText,
  optionalReference,
  requiredReference,
  timeZoneName,
} from './fields.ts'
import { granularities } from './meters.ts'
import { usageQueryFields } from './usage-query.ts'

/* Schemas of `/v1/ui/usage/explore`: usage of several meters, by time and one grouping, compared with the time before. */

export const explorerGroupings = [
  'customer',
  'product',
  'purchase',
  'outcome',
  'dimension',
] as const
export type ExplorerGrouping = (typeof explorerGroupings)[number]

export const usageExplorerQuerySchema = z.object({
  /** A date begins at midnight of the time zone. Hours (UTC) count that begin in the range. */
  from: dateOrInstant,
  /** Exclusive. */
  to: dateOrInstant,
  /** The time zone of dates, and of days, weeks and months. Default: UTC. */
  timeZone: timeZoneName.optional(),
  /** Meters whose usage can be added up. The parameter may be repeated. Default: the meter of limit checks. */
  meterRef: z
    .union([requiredReference, z.array(requiredReference).min(1).max(exploredMetersMax)])
    .optional(),
  granularity: z.enum(granularities).optional(),
  groupBy: z.enum(explorerGroupings).optional(),
  /** Only with `groupBy=dimension`: a dimension that all meters declare. */
  dimension: nameText.optional(),
  /** Number of groups of each meter, those with the most usage. The rest is one group, `other`. Default: 10. */
  top: usageQueryFields.top,
  customerRef: optionalReference.optional(),
  productRef: optionalReference.optional(),
  purchaseRef: optionalReference.optional(),
  /** Default: the records that count for limits and billing. */
  outcome: z.enum(['success', 'paywall', 'fail', 'all']).optional(),
  filter: usageQueryFields.filter,
  /** `previous` adds the time of the same length before `from`. */
  compare: z.enum(['previous']).optional(),
  /** Default: `json`. */
  format: z.enum(['json', 'csv']).optional(),
})

export type UsageExplorerQuery = z.infer<typeof usageExplorerQuerySchema>

const sums = { value: z.number(), count: z.int() }
const buckets = z
  .array(z.object({ start: z.string(), end: z.string(), ...sums }))
  .describe('Only with `granularity`')
  .optional()
const usage = z.object({ ...sums, buckets })

export const usageExplorerSchema = z.object({
  from: z.string(),
  to: z.string(),
  timeZone: z.string(),
  granularity: z.enum(granularities).optional(),
  groupBy: z.enum(explorerGroupings).optional(),
  /** Only with `compare`. */
  previous: z.object({ from: z.string(), to: z.string() }).optional(),
  /** In the order of the request. */
  meters: z.array(
    z.object({
      meterName: z.string(),
      ...sums,
      buckets,
      previous: usage.optional(),
      /** Only with `groupBy`. Those with the most usage come first. */
      groups: z
        .array(
          z.object({
            /** Reference, outcome, or value of the dimension. The empty text is usage without one. */
            key: z.string(),
            /** Display name of a customer or product that exists. */
            name: z.string().optional(),
            ...sums,
            buckets,
            previous: usage.optional(),
          }),
        )
        .optional(),
      /** Usage of all groups beyond `top`. Missing if there are none. */
      other: z.object({ ...sums, buckets, previous: usage.optional() }).optional(),
    }),
  ),
  /** The same numbers for the data team: a statement that ClickHouse runs as it is. */
  sql: z.string(),
})

export type UsageExplorerBody = z.infer<typeof usageExplorerSchema>
