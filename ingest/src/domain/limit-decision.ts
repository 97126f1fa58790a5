import type { LimitsResponse } from '@tollgate/schemas/http/limits'

export type LimitDecision =
  | { readonly kind: 'answered'; readonly response: LimitsResponse }
  /** No published purchase answers for now: the control plane must, which may give the customer a free plan. */
  | { readonly kind: 'unknown' }
  /** The counters are too far behind, or cannot be read: the control plane has other ways to know. */
  | { readonly kind: 'unanswerable'; readonly reason: 'behind' | 'unreadable' }
