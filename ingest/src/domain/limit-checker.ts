import type { Caller } from '@tollgate/domain/entitlements/shared-tail'
import type { LimitsRequest, LimitsResponse } from '@tollgate/schemas/http/limits'
import type { KeyHolder } from './key-holder.ts'

export type LimitDecision =
  | { readonly kind: 'answered'; readonly response: LimitsResponse }
  /** No published purchase matches. The control plane must answer, and may assign a free plan to the customer. */
  | { readonly kind: 'unknown' }
  /** The counters cannot be read or lag too far behind. The control plane has other sources to answer from. */
  | { readonly kind: 'unanswerable'; readonly reason: 'behind' | 'unreadable' }

/**
 * Decides whether a customer is within the limits. The result is synchronous if nothing must be read or waited for. Fails with
 * UnavailableError if no correct decision is possible now.
 */
export interface LimitChecker {
  check(
    holder: KeyHolder,
    request: LimitsRequest,
    caller?: Caller,
  ): LimitDecision | Promise<LimitDecision>
}

/** Sends a JSON request to the control plane. Resolves with its response, whatever the status. */
export type CallControlPlane = (
  path: string,
  authorization: string,
  body: string,
  requestId?: string,
) => Promise<{ readonly status: number; readonly body: string }>
