import type { Environment } from '@tollgate/schemas/environment'

/** What a reconciliation looks at. */
export type Scope = {
  readonly environment: Environment
  /** Undefined: all providers. */
  readonly providerId: string | undefined
  /** What was made in this time, the end left out; whole seconds. */
  readonly from: Date
  readonly to: Date
  /** What has changed within it may be known to one side alone. */
  readonly graceMs: number
  /** Aborted, the comparison throws soon after. */
  readonly stopping?: AbortSignal | undefined
}

export function isAsked({ providerId }: Scope, owner: string): boolean {
  return providerId === undefined || providerId === owner
}
