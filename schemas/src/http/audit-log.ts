import { z } from 'zod'
import { environments } from '../environment.ts'
import { optionalReference } from './fields.ts'

/* Schemas of `GET /v1/ui/audit-log`. */

export const auditEntriesDefault = 50
export const auditEntriesMax = 500

export const auditLogQuerySchema = z.object({
  /** Entries per response. Default: 50. */
  limit: z
    .string()
    .regex(/^\d{1,3}$/)
    .refine((text) => Number(text) >= 1 && Number(text) <= auditEntriesMax, {
      error: `Must be from 1 to ${auditEntriesMax}`,
    })
    .optional(),
  /** The value of `next` in the previous response. */
  before: z
    .string()
    .regex(/^\d{1,17}-(?:control|sandbox|live)-\d{1,18}$/, { error: 'Not a cursor of this list' })
    .optional(),
  /** Reference of the changed row. */
  reference: optionalReference.optional(),
  actor: optionalReference.optional(),
})

/** One row that was inserted, updated or deleted. */
export const auditEntrySchema = z.object({
  id: z.string(),
  at: z.string(),
  /** Null for rows that belong to both environments. */
  environment: z.enum(environments).nullable(),
  /**
   * `key:<key id>`, `user:<user id>`, `customer:<reference>`, `job:<name>`, `service:<name>` or `cli:<user>`. `database:<login>`
   * for changes that Tollgate did not make.
   */
  actor: z.string(),
  /** The route, job or command. */
  operation: z.string(),
  requestId: z.string().nullable(),
  ip: z.string().nullable(),
  /** Name of the table. `reference` is the key of the row in it. */
  kind: z.string(),
  reference: z.string(),
  action: z.enum(['insert', 'update', 'delete']),
  /** Only for updates. */
  changedColumns: z.array(z.string()).nullable(),
  beforeSha256: z.string().nullable(),
  afterSha256: z.string().nullable(),
})

export type AuditEntryBody = z.infer<typeof auditEntrySchema>

/** Entries are sorted with the newest first. */
export const auditLogResponseSchema = z.object({
  entries: z.array(auditEntrySchema),
  /** Cursor of the next page, or null on the last page. */
  next: z.string().nullable(),
})
