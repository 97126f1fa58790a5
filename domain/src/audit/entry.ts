import type { Environment } from '@tollgate/schemas/environment'

/** Where a log lies: one for each environment, and one for what belongs to neither. */
export const auditPlaces = ['control', 'sandbox', 'live'] as const
export type AuditPlace = (typeof auditPlaces)[number]

/** One row that was made, changed or removed. */
export type AuditEntry = {
  readonly id: bigint
  readonly providerId: string
  /** Null for what belongs to both. */
  readonly environment: Environment | null
  /** Microseconds since 1970. */
  readonly atMicros: bigint
  readonly actor: string
  readonly operation: string
  readonly requestId: string | null
  readonly ip: string | null
  /** The table. */
  readonly kind: string
  /** The row's key in it. */
  readonly reference: string
  readonly action: 'insert' | 'update' | 'delete'
  /** Of an update. */
  readonly changedColumns: readonly string[] | null
  readonly beforeSha256: string | null
  readonly afterSha256: string | null
}

/** Seals the entries of a provider whose id is in (afterId, upToId]. */
export type AuditSeal = {
  readonly providerId: string
  /** From 1, without a gap. */
  readonly number: bigint
  readonly afterId: bigint
  readonly upToId: bigint
  readonly entries: bigint
  readonly previousSha256: string
  readonly sha256: string
  readonly sealedAt: Date
}
