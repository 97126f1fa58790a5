import { z } from 'zod'
import { pageQuery } from './fields.ts'

/* Reports on whether what we have equals what others have of the same: `/v1/ui/reconciliations`. */

export const reconciliationsQuerySchema = z.object(pageQuery)

export const reconciliationFindingSchema = z.object({
  /** What was compared, such as `payment`, `refund`, `wallet` or `invoice`. */
  kind: z.string(),
  difference: z.enum(['missing_here', 'missing_there', 'differs']),
  /** Of our object, or the processor's id of one that we do not have. */
  reference: z.string(),
  /** What we have of it, for people. */
  ours: z.string().optional(),
  /** What the other side has. */
  theirs: z.string().optional(),
  since: z.string(),
  /** Looking again has set it right. */
  repaired: z.boolean(),
})

export const reconciliationSummarySchema = z.object({
  reference: z.string(),
  startedAt: z.string(),
  finishedAt: z.string(),
  /** What was made in this time was compared. */
  comparedFrom: z.string(),
  comparedTo: z.string(),
  /** How many were compared, by kind. */
  compared: z.record(z.string(), z.int()),
  /** What could not be compared. */
  gaps: z.array(z.object({ kind: z.string(), reason: z.string() })),
  /** Of all findings, also those that are not listed. */
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
