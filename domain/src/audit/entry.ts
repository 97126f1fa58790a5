import type { Environment } from '@tollgate/schemas/environment'

/** Place of an audit log: one for each environment, and one for changes that belong to neither. */
export const auditPlaces = ['control', 'sandbox', 'live'] as const
export type AuditPlace = (typeof auditPlaces)[number]

/** A change of one row: an insert, an update or a delete. */
export type AuditEntry = {
  readonly id: bigint
  readonly providerId: string
  /** Null for changes that belong to both environments. */
  readonly environment: Environment | null
  /** Microseconds since 1970. */
  readonly atMicros: bigint
  readonly actor: string
  readonly operation: string
  readonly requestId: string | null
  readonly ip: string | null
  /** Name of the table. */
  readonly kind: string
  /** Key of the row in its table. */
  readonly reference: string
  readonly action: 'insert' | 'update' | 'delete'
  /** Null unless the row was updated. */
  readonly changedColumns: readonly string[] | null
  readonly beforeSha256: string | null
  readonly afterSha256: string | null
}

/** Seals the entries of a provider whose id is in (afterId, upToId]. */
export type AuditSeal = {
  readonly providerId: string
  /** Counted from 1 without gaps. */
  readonly number: bigint
  readonly afterId: bigint
  readonly upToId: bigint
  readonly entries: bigint
  readonly previousSha256: string
  readonly sha256: string
  readonly sealedAt: Date
}
