import {
  bucketSpecOf,
  bucketRangeAt,
  type BucketWindow,
} from '@tollgate/platform/hot-state/bucket-windows'
import type { BucketSpec } from '@tollgate/platform/hot-state/buckets'
import type { Entitlement, EntitledLimit, LimitWindow } from '@tollgate/schemas/hot-state/documents'
import type { Charge } from '@tollgate/schemas/http/charges'
import type { UsageLimit } from '@tollgate/schemas/http/usage-limits'
import { usageLimitKey } from '../plans/charge-key.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import { unitsOfLimit } from '../plans/spend-limit.ts'
import type { UsageSpan } from './usage-query.ts'

/**
 * Returns the limits of a plan in addition to the caps of its charges. Undefined if it has none. `charges` have the prices of the
 * current period, if those of the plan wait for the next one: a limit in credits or money then allows what the higher price allows.
 */
export function entitledLimits(
  { terms }: PlanSnapshot,
  charges: readonly Charge[] = terms.charges ?? [],
): EntitledLimit[] | undefined {
  const limits = (terms.usageLimits ?? []).flatMap((limit) => {
    const next = unitsOfLimit(limit, terms.charges ?? [])
    const now = unitsOfLimit(limit, charges)
    const cap = next === null || (now !== null && now < next) ? now : next
    if (cap === null) return []
    const named = { key: usageLimitKey(limit), meterName: limit.meter }
    return [{ ...named, cap: cap.toString(), window: windowOf(limit) }]
  })
  return limits.length === 0 ? undefined : limits
}

function windowOf({ per, rollingSeconds }: UsageLimit): LimitWindow {
  return per === 'rolling' ? { kind: per, seconds: rollingSeconds! } : { kind: per }
}

/** Returns the sums of usage that the hot state keeps for the limits, each once. */
export function bucketSpecs({ limits = [] }: Pick<Entitlement, 'limits'>): BucketSpec[] {
  const specs = new Map<string, BucketSpec>()
  for (const { window } of limits) {
    if (!isBucketed(window)) continue
    const spec = bucketSpecOf(window)
    specs.set(spec.id, spec)
  }
  return [...specs.values()]
}

/** Returns whether usage of the window is summed from buckets. That of a period has a counter of its own. */
export function isBucketed(window: LimitWindow): window is BucketWindow {
  return window.kind !== 'period'
}

/**
 * Returns the time whose usage counts against a limit now. It has no end: usage with a timestamp of the future counts too, so that
 * a client whose clock is wrong is never allowed more.
 */
export function spanOfLimit(key: string, window: BucketWindow, nowSecond: number): UsageSpan {
  const { id, seconds, offsetSeconds } = bucketSpecOf(window)
  const { fromBucket } = bucketRangeAt(window, nowSecond)
  return { id: key, specId: id, fromBucket, fromSecond: fromBucket * seconds + offsetSeconds }
}

/**
 * Returns the Unix second at which a window of time leaves room again: when a calendar window ends, or when enough of the oldest
 * usage has left a rolling window. `buckets` is the usage by bucket, and `excessMicros` what must leave.
 */
export function resetSecond(
  window: BucketWindow,
  nowSecond: number,
  buckets: ReadonlyMap<number, bigint>,
  excessMicros: bigint,
): number {
  const { fromBucket, endSecond } = bucketRangeAt(window, nowSecond)
  if (window.kind !== 'rolling') return endSecond
  const { seconds, offsetSeconds } = bucketSpecOf(window)
  let left = excessMicros
  const inOrder = [...buckets].filter(([bucket]) => bucket >= fromBucket)
  for (const [bucket, micros] of inOrder.sort(([one], [other]) => one - other)) {
    left -= micros
    // The bucket counts as long as one of its seconds is in the window.
    if (left < 0n) return (bucket + 1) * seconds + offsetSeconds + window.seconds - 1
  }
  // The newest usage is not in the buckets yet.
  return nowSecond + window.seconds
}
