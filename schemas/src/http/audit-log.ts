import { z } from 'zod'
import { environments } from '../environment.ts'
import { optionalReference } from './fields.ts'

/* `GET /v1/ui/audit-log`. */

export const auditEntriesDefault = 50
export const auditEntriesMax = 500

export const auditLogQuerySchema = z.object({
  /** Entries of one answer. Default: 50. */
  limit: z
    .string()
    .regex(/^\d{1,3}$/)
    .refine((text) => Number(text) >= 1 && Number(text) <= auditEntriesMax, {
      error: `Must be from 1 to ${auditEntriesMax}`,
    })
    .optional(),
  /** `next` of the answer before. */
  before: z
    .string()
    .regex(/^\d{1,17}-(?:control|sandbox|live)-\d{1,18}$/, { error: 'Not a cursor of this list' })
    .optional(),
  /** Of what was changed. */
  reference: optionalReference.optional(),
  actor: optionalReference.optional(),
})

/** One row that was made, changed or removed. */
export const auditEntrySchema = z.object({
  id: z.string(),
  at: z.string(),
  /** Null for what belongs to both. */
  environment: z.enum(environments).nullable(),
  /** `key:<key id>`, `user:<user id>`, `customer:<reference>`, `job:<name>`, `service:<name>`, `cli:<user>`; `database:<login>` for what Tollgate did not do. */
  actor: z.string(),
  /** The route, the job or the command. */
  operation: z.string(),
  requestId: z.string().nullable(),
  ip: z.string().nullable(),
  /** The table, and the row's key in it. */
  kind: z.string(),
  reference: z.string(),
  action: z.enum(['insert', 'update', 'delete']),
  /** Of an update. */
  changedColumns: z.array(z.string()).nullable(),
  beforeSha256: z.string().nullable(),
  afterSha256: z.string().nullable(),
})

export type AuditEntryBody = z.infer<typeof auditEntrySchema>

/** Newest first. */
export const auditLogResponseSchema = z.object({
  entries: z.array(auditEntrySchema),
  /** To go on with; null where this was the last page. */
  next: z.string().nullable(),
})
