import type { Granularity } from '@tollgate/schemas/http/meters'

/** Time range from `startMs`, inclusive, to `endMs`, exclusive, in Unix milliseconds. */
export type TimeRange = {
  readonly startMs: number
  readonly endMs: number
}

export const hourMs = 3_600_000
export const dayMs = 24 * hourMs

/** 1 January 1970 was a Thursday, so the first Monday came 4 days later. */
const mondayOffsetMs = 4 * dayMs

/**
 * Returns the UTC hours, days, weeks (from Monday) or months that the range touches, in order. The first and the last bucket are
 * cut at the ends of the range, so that the buckets cover exactly the range. Returns undefined if there are more than `max`
 * buckets.
 */
export function bucketsOf(
  range: TimeRange,
  granularity: Granularity,
  max: number,
): TimeRange[] | undefined {
  return splitRange(range, (atMs) => bucketEndMs(atMs, granularity), max)
}

/**
 * Returns the buckets that cover exactly the range, in order. `endOf` returns the end of the bucket that contains an instant. Returns
 * undefined if there are more than `max` buckets.
 */
export function splitRange(
  range: TimeRange,
  endOf: (atMs: number) => number,
  max: number,
): TimeRange[] | undefined {
  const buckets: TimeRange[] = []
  for (let startMs = range.startMs; startMs < range.endMs;) {
    if (buckets.length === max) return undefined
    const endMs = Math.min(endOf(startMs), range.endMs)
    buckets.push({ startMs, endMs })
    startMs = endMs
  }
  return buckets
}

/** Returns the end of the bucket that contains the instant, in Unix milliseconds. */
function bucketEndMs(atMs: number, granularity: Granularity): number {
  switch (granularity) {
    case 'hour':
      return nextMultiple(atMs, hourMs, 0)
    case 'day':
      return nextMultiple(atMs, dayMs, 0)
    case 'week':
      return nextMultiple(atMs, 7 * dayMs, mondayOffsetMs)
    case 'month': {
      const end = new Date(atMs)
      end.setUTCMonth(end.getUTCMonth() + 1, 1)
      return end.setUTCHours(0, 0, 0, 0)
    }
  }
}

function nextMultiple(atMs: number, stepMs: number, offsetMs: number): number {
  return (Math.floor((atMs - offsetMs) / stepMs) + 1) * stepMs + offsetMs
}
