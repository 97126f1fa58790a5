import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import type { UsageOverTimeBody } from '@tollgate/schemas/http/console-usage'
import type { Granularity } from '@tollgate/schemas/http/meters'
import { bucketsOf, hourMs, type TimeRange } from '../domain/usage-buckets.ts'
import { sumRolledUp, sumRolledUpByBucket, type RolledUpQuery } from './query-rolled-up-usage.ts'

/** Returns the usage of one meter over time for the console, or undefined if there would be more than `bucketsMax` buckets. */
export async function usageOverTime(
  store: UsageStore,
  query: RolledUpQuery & { readonly meterName: string },
  granularity: Granularity | undefined,
  bucketsMax: number,
): Promise<UsageOverTimeBody | undefined> {
  const head = { meterName: query.meterName, ...rangeToHttp(query.range) }
  if (granularity === undefined) {
    const { total, count } = await sumRolledUp(store, query)
    return { ...head, total: Number(total), count }
  }
  const ranges = bucketsOf(query.range, granularity, bucketsMax)
  if (ranges === undefined) return undefined
  const { whole, buckets } = await sumRolledUpByBucket(store, query, granularity)
  return {
    ...head,
    total: Number(whole.total),
    count: whole.count,
    buckets: ranges.map(({ startMs, endMs }) => ({
      start: new Date(startMs).toISOString(),
      end: new Date(endMs).toISOString(),
      value: Number(buckets.get(startMs)?.total ?? 0),
      count: buckets.get(startMs)?.count ?? 0,
    })),
  }
}

export function rangeToHttp({ startMs, endMs }: TimeRange): { from: string; to: string } {
  return { from: new Date(startMs).toISOString(), to: new Date(endMs).toISOString() }
}

/** Returns the range extended to whole hours. */
export function wholeHours({ startMs, endMs }: TimeRange): TimeRange {
  return {
    startMs: Math.floor(startMs / hourMs) * hourMs,
    endMs: nextFullHour(endMs),
  }
}

/** Returns the instant if it is a full hour of UTC, and the next full hour otherwise. */
export function nextFullHour(atMs: number): number {
  return Math.ceil(atMs / hourMs) * hourMs
}
