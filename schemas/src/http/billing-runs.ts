import { z } from 'zod'
import { pageQuery, shortText } from './fields.ts'

/* Schemas of the results of scheduled jobs for a provider. */

export const billingRunsQuerySchema = z.object({ ...pageQuery, job: shortText.optional() })

export const billingRunSchema = z.object({
  job: z.string(),
  /** The scheduled time, or the time of a manual request. */
  slot: z.string(),
  startedAt: z.string(),
  /** Time of the last work item so far. */
  endedAt: z.string(),
  counts: z.object({
    done: z.int(),
    /** Number of items that were left to the next run. */
    postponed: z.int(),
    /** Number of items that failed after several attempts and were left to the next run. */
    failed: z.int(),
  }),
  /** Reason of the last failure. */
  failure: z.string().optional(),
})

export type BillingRunBody = z.infer<typeof billingRunSchema>

export const billingRunsResponseSchema = z.object({
  runs: z.array(billingRunSchema),
  total: z.int(),
  limit: z.int(),
  offset: z.int(),
})
