import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import {
  readSecondSums,
  startOfDay,
  type Slice,
  type StoredRange,
  type UsageSum,
} from '../../clickhouse/stored-usage.ts'
import { retryUntilSuccess, type Failed } from './retry-until-success.ts'

/** Maximum number of days in one query. Their customers are part of the URL, which may have 1 MB. */
const daysPerQuery = 200
/** Maximum number of records in one query. A single day may have more, since its result has at most 86,400 seconds. */
const recordsPerQuery = 200_000
/** Above this number of records, the seconds of a slice are not held in memory together. */
const wholeSliceRecordsMax = 500_000

export type Seconds = { readonly kind: 'seconds'; readonly sums: readonly UsageSum[] }

/**
 * Returns the sums by second of these days. Queries name the days if they are few; otherwise they are filtered from the seconds of
 * the whole slice.
 */
export async function* readSeconds(
  store: UsageStore,
  range: StoredRange,
  slice: Slice,
  daily: readonly UsageSum[],
): AsyncGenerator<Seconds | Failed, void> {
  if (daily.length <= daysPerQuery || slice.recordsTotal > wholeSliceRecordsMax) {
    for (const days of daysOfQueries(daily)) {
      const sums = yield* retryUntilSuccess(() => readSecondSums(store, range, slice, days))
      yield { kind: 'seconds', sums }
    }
    return
  }
  const wanted = new Set(daily.map(nameOfDay))
  const all = yield* retryUntilSuccess(() => readSecondSums(store, range, slice, 'all'))
  yield { kind: 'seconds', sums: all.filter((sum) => wanted.has(nameOfDay(sum))) }
}

function* daysOfQueries(daily: readonly UsageSum[]): Generator<readonly UsageSum[]> {
  let days: UsageSum[] = []
  let records = 0
  for (const day of daily) {
    const isFull = days.length === daysPerQuery || records + day.records > recordsPerQuery
    if (days.length > 0 && isFull) {
      yield days
      days = []
      records = 0
    }
    days.push(day)
    records += day.records
  }
  if (days.length > 0) yield days
}

function nameOfDay({ customerRef, productRef, fromSecond }: UsageSum): string {
  return JSON.stringify([customerRef, productRef, startOfDay(fromSecond)])
}
