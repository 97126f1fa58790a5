import type { MeterEvent, Outcome } from '@tollgate/schemas/meter-event'

/** The treatment of a readable record. All records except duplicates are stored. Only 'counted' changes a counter. */
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
 * Decides how a record is treated. `firstOffset` is the offset that first used the record's id, or undefined for a record without
 * an idempotency key, whose id is unique. A record that is read again has its own offset as the first one, so it gets the same
 * verdict.
 */
export function decideVerdict(
  offset: number,
  event: MeterEvent,
  firstOffset: number | undefined,
): Verdict {
  if (firstOffset !== undefined && firstOffset !== offset) return { kind: 'duplicate', firstOffset }
  return event.outcome === 'success' ? counted : notCounted[event.outcome]
}
