import type { MeterEvent, Outcome } from '@tollgate/schemas/meter-event'

/** What becomes of one readable record. Everything but a duplicate is stored; only `counted` changes a counter. */
export type Verdict =
  | { readonly kind: 'counted' }
  | { readonly kind: 'not-counted'; readonly reason: Exclude<Outcome, 'success'> }
  | { readonly kind: 'duplicate'; readonly firstOffset: number }

const counted: Verdict = { kind: 'counted' }
const notCounted = {
  paywall: { kind: 'not-counted', reason: 'paywall' },
  fail: { kind: 'not-counted', reason: 'fail' },
} as const

/**
 * `firstOffset` is the offset that first used the record's id; undefined for a record without an idempotency key, whose
 * id is its own. A replayed record meets its own offset and so gets the same verdict again.
 */
export function decideVerdict(
  offset: number,
  event: MeterEvent,
  firstOffset: number | undefined,
): Verdict {
  if (firstOffset !== undefined && firstOffset !== offset) return { kind: 'duplicate', firstOffset }
  return event.outcome === 'success' ? counted : notCounted[event.outcome]
}
