import { z } from 'zod'
import { pageQuery } from './fields.ts'

/* Schemas of reports that compare our state with that of other systems: `/v1/ui/reconciliations`. */

export const reconciliationsQuerySchema = z.object(pageQuery)

export const reconciliationFindingSchema = z.object({
  /** What was compared, such as `payment`, `refund`, `wallet` or `invoice`. */
  kind: z.string(),
  difference: z.enum(['missing_here', 'missing_there', 'differs']),
  /** Reference of our object, or the processor's id of an object that we do not have. */
  reference: z.string(),
  /** Our state, as text to display. */
  ours: z.string().optional(),
  /** State of the other system, as text to display. */
  theirs: z.string().optional(),
  since: z.string(),
  /** Another read of the other system has corrected our state. */
  repaired: z.boolean(),
})

export const reconciliationSummarySchema = z.object({
  reference: z.string(),
  startedAt: z.string(),
  finishedAt: z.string(),
  /** Objects that were created in this time were compared. */
  comparedFrom: z.string(),
  comparedTo: z.string(),
  /** Number of compared objects by kind. */
  compared: z.record(z.string(), z.int()),
  /** Kinds that could not be compared. */
  gaps: z.array(z.object({ kind: z.string(), reason: z.string() })),
  /** Number of all findings, including those that are not listed. */
  found: z.int(),
  repaired: z.int(),
})

export const reconciliationSchema = reconciliationSummarySchema.extend({
  findings: z.array(reconciliationFindingSchema),
})

export type ReconciliationFindingBody = z.infer<typeof reconciliationFindingSchema>
export type ReconciliationSummaryBody = z.infer<typeof reconciliationSummarySchema>
export type ReconciliationBody = z.infer<typeof reconciliationSchema>

export const reconciliationsPageSchema = z.object({
  reconciliations: z.array(reconciliationSummarySchema),
  total: z.int(),
  limit: z.int(),
  offset: z.int(),
})
