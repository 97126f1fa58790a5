import { bucketSpecOf } from '@tollgate/platform/hot-state/bucket-windows'
import { sumSince } from '@tollgate/platform/hot-state/buckets'
import type { EntryAddress, EntrySeriesView } from '@tollgate/platform/hot-state/hot-state'
import type { FurtherCap } from '@tollgate/platform/hot-state/reservations'
import type { LimitWindow } from '@tollgate/schemas/hot-state/documents'
import { sumBuckets } from '../entitlements/counted-usage-reader.ts'
import { isBucketed } from '../entitlements/entitled-limits.ts'

/** The counters of one reference of the customer, and how far they must be. */
export type SeriesReading = {
  readonly at: EntryAddress
  readonly head: number
  readonly view: EntrySeriesView
}

/** Returns the usage of a series under a cap, over all readings, in 10^-6. */
export function usedIn(
  readings: readonly SeriesReading[],
  series: string,
  window: LimitWindow,
  within: FurtherCap['within'],
): bigint {
  if ('windowId' in within) {
    const amounts = readings.map(({ view }) =>
      view.series.get(series)?.amounts.get(within.windowId),
    )
    return amounts.reduce<bigint>((sum, amount = 0n) => sum + amount, 0n)
  }
  return sumSince(bucketsOf(readings, series, window), within.fromBucket)
}

/** Returns the sums of the buckets of a series over all readings; empty for a window without buckets. */
export function bucketsOf(
  readings: readonly SeriesReading[],
  series: string,
  window: LimitWindow,
): ReadonlyMap<number, bigint> {
  if (!isBucketed(window)) return new Map()
  const counters = readings.map(({ view }) => view.series.get(series))
  return sumBuckets(counters, bucketSpecOf(window).id)
}
