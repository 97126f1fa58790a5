import { z } from 'zod'
import { pageQuery, shortText } from './fields.ts'

/* What scheduled jobs did for a provider. */

export const billingRunsQuerySchema = z.object({ ...pageQuery, job: shortText.optional() })

export const billingRunSchema = z.object({
  job: z.string(),
  /** The time of the schedule, or when somebody asked for it. */
  slot: z.string(),
  startedAt: z.string(),
  /** Of the last thing done so far. */
  endedAt: z.string(),
  counts: z.object({
    done: z.int(),
    /** Left to the next run. */
    postponed: z.int(),
    /** Given up after several tries, until the next run. */
    failed: z.int(),
  }),
  /** Why the last one failed. */
  failure: z.string().optional(),
})

export type BillingRunBody = z.infer<typeof billingRunSchema>

export const billingRunsResponseSchema = z.object({
  runs: z.array(billingRunSchema),
  total: z.int(),
  limit: z.int(),
  offset: z.int(),
})
