import type { Caller } from '@tollgate/domain/entitlements/shared-tail'
import type { LimitsRequest, LimitsResponse } from '@tollgate/schemas/http/limits'
import type { KeyHolder } from './key-holder.ts'

export type LimitDecision =
  | { readonly kind: 'answered'; readonly response: LimitsResponse }
  /** No published purchase answers for now: the control plane must, which may give the customer a free plan. */
  | { readonly kind: 'unknown' }
  /** The counters are too far behind, or cannot be read: the control plane has other ways to know. */
  | { readonly kind: 'unanswerable'; readonly reason: 'behind' | 'unreadable' }

/**
 * Says whether a customer may go on, at once where nothing has to be waited for. Fails with UnavailableError when that
 * cannot be said truthfully now.
 */
export interface LimitChecker {
  check(
    holder: KeyHolder,
    request: LimitsRequest,
    caller?: Caller,
  ): LimitDecision | Promise<LimitDecision>
}

/** Has the control plane answer a limit check; resolves with its whole answer, whatever the status. */
export type AskControlPlane = (
  path: string,
  authorization: string,
  body: string,
  requestId?: string,
) => Promise<{ readonly status: number; readonly body: string }>
