import { rollingSecondsMax, rollingSecondsMin } from '@tollgate/schemas/limits'
import { bucketAt, bucketClockSkewSeconds, type BucketSpec } from './buckets.ts'

/** A time for which usage is summed from buckets. Calendar windows are in UTC; weeks begin on Monday. */
export type BucketWindow =
  | { readonly kind: 'rolling'; readonly seconds: number }
  | { readonly kind: 'hour' | 'day' | 'week' | 'month' }

/** The window that contains a second, in Unix seconds, half-open. */
export type BucketRange = {
  /** First bucket of the spec that counts for the window. */
  readonly fromBucket: number
  readonly startSecond: number
  readonly endSecond: number
}

/** A rolling window has about this many buckets. The oldest one is partly outside, so the error is at most one part. */
const bucketsPerWindow = 100

const hourSeconds = 3_600
const daySeconds = 86_400
const weekSeconds = 7 * daySeconds
/** 1970-01-05, the first Monday of Unix time. */
const firstMonday = 4 * daySeconds
const daysPerMonthMax = 31

/**
 * Returns the buckets from which a window is summed. A month is the sum of its days. Windows with equal specs share their buckets,
 * so an entry lists each id once.
 */
export function bucketSpecOf(window: BucketWindow): BucketSpec {
  switch (window.kind) {
    case 'rolling':
      return rollingSpec(window.seconds)
    case 'hour':
      return { id: 'hour', seconds: hourSeconds, offsetSeconds: 0, kept: 2 }
    case 'week':
      return { id: 'week', seconds: weekSeconds, offsetSeconds: firstMonday, kept: 2 }
    case 'day':
    case 'month':
      return { id: 'day', seconds: daySeconds, offsetSeconds: 0, kept: daysPerMonthMax + 1 }
  }
}

/**
 * Returns the window that contains `second`, a whole number. A rolling window has the seconds up to and including this one. It
 * counts its oldest bucket in full: never less than the usage of its seconds, and more by at most the usage of 1% of its length
 * before them.
 */
export function bucketRangeAt(window: BucketWindow, second: number): BucketRange {
  const spec = bucketSpecOf(window)
  const [startSecond, endSecond] = boundsAt(window, spec, second)
  return { fromBucket: bucketAt(spec, startSecond), startSecond, endSecond }
}

function boundsAt(
  window: BucketWindow,
  spec: BucketSpec,
  second: number,
): [startSecond: number, endSecond: number] {
  switch (window.kind) {
    case 'rolling':
      return [second - window.seconds + 1, second + 1]
    case 'month': {
      const date = new Date(second * 1_000)
      const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()]
      return [Date.UTC(year, month) / 1_000, Date.UTC(year, month + 1) / 1_000]
    }
    default: {
      const start = bucketAt(spec, second) * spec.seconds + spec.offsetSeconds
      return [start, start + spec.seconds]
    }
  }
}

function rollingSpec(windowSeconds: number): BucketSpec {
  const isPossible = windowSeconds >= rollingSecondsMin && windowSeconds <= rollingSecondsMax
  if (!Number.isSafeInteger(windowSeconds) || !isPossible) {
    throw new RangeError(
      `A rolling window has ${rollingSecondsMin} to ${rollingSecondsMax} seconds: ${windowSeconds}`,
    )
  }
  const seconds = Math.max(1, Math.floor(windowSeconds / bucketsPerWindow))
  const touchedMax = Math.ceil((windowSeconds - 1) / seconds) + 1
  const kept = touchedMax + Math.ceil(bucketClockSkewSeconds / seconds)
  return { id: `rolling ${windowSeconds}`, seconds, offsetSeconds: 0, kept }
}
