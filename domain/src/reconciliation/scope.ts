import type { Environment } from '@tollgate/schemas/environment'

/** What a reconciliation compares. */
export type Scope = {
  readonly environment: Environment
  /** The only provider to compare; undefined for all providers. */
  readonly providerId: string | undefined
  /** Objects created from `from` until before `to` are compared. Whole seconds. */
  readonly from: Date
  readonly to: Date
  /** Grace time in milliseconds. A change within it may be known to one side only. */
  readonly graceMs: number
  /** The comparison throws soon after the signal is aborted. */
  readonly stopping?: AbortSignal | undefined
}

export function isInScope({ providerId }: Scope, owner: string): boolean {
  return providerId === undefined || providerId === owner
}
