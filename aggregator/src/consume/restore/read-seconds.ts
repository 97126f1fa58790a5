import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import {
  readSecondSums,
  startOfDay,
  type Slice,
  type StoredRange,
  type UsageSum,
} from '../../clickhouse/stored-usage.ts'
import { patiently, type Failed } from './patiently.ts'

/** Their names go in the address of the query, which may have a megabyte. */
const daysPerQuery = 200
/** And no more records than these, unless one day alone has them: it has 86,400 seconds at most. */
const recordsPerQuery = 200_000
/** A slice with one customer of many records may have more; its seconds are not held in memory together. */
const wholeSliceRecordsMax = 500_000

export type Seconds = { readonly kind: 'seconds'; readonly sums: readonly UsageSum[] }

/** The seconds of these days: asked for by name while they are few, else picked from those of the whole slice. */
export async function* readSeconds(
  store: UsageStore,
  range: StoredRange,
  slice: Slice,
  daily: readonly UsageSum[],
): AsyncGenerator<Seconds | Failed, void> {
  if (daily.length <= daysPerQuery || slice.recordsTotal > wholeSliceRecordsMax) {
    for (const days of daysOfQueries(daily)) {
      const sums = yield* patiently(() => readSecondSums(store, range, slice, days))
      yield { kind: 'seconds', sums }
    }
    return
  }
  const wanted = new Set(daily.map(nameOfDay))
  const all = yield* patiently(() => readSecondSums(store, range, slice, 'all'))
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
