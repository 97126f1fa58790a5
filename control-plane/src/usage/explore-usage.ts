import { decimalOfMicros, microsOfDecimal } from '@tollgate/domain/money/decimal'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import type { UsageExplorerBody } from '@tollgate/schemas/http/usage-explorer'
import { TimeZone, zonedBuckets } from '../domain/zoned-buckets.ts'
import type { TimeRange } from '../domain/usage-buckets.ts'
import { exploreLargest } from './explore-largest.ts'
import {
  explorerStatement,
  keyNameOf,
  type ExploredRow,
  type ExplorerQuery,
} from './explorer-statement.ts'
import { nextFullHour } from './usage-over-time.ts'

type Sum = { readonly micros: bigint; readonly count: number }
const nothing: Sum = { micros: 0n, count: 0 }

function plus(one: Sum, other: Sum): Sum {
  return { micros: one.micros + other.micros, count: one.count + other.count }
}

/** Usage of one meter or group, in the range and in the one before it. The buckets are keyed by their start in Unix milliseconds. */
class Series {
  readonly current = new Map<number, Sum>()
  readonly previous = new Map<number, Sum>()

  get total(): Sum {
    return totalOf(this.current)
  }
}

function totalOf(buckets: ReadonlyMap<number, Sum>): Sum {
  return [...buckets.values()].reduce(plus, nothing)
}

function add(buckets: Map<number, Sum>, startMs: number, sum: Sum): void {
  buckets.set(startMs, plus(buckets.get(startMs) ?? nothing, sum))
}

export type ExploredMeter = Omit<UsageExplorerBody['meters'][number], 'meterName'>

/**
 * Returns the usage of each meter of the query. One statement returns groups and buckets, and the sums are computed from them here, so
 * that they add up. Returns undefined if there would be more than `bucketsMax` buckets.
 */
export async function exploreUsage(
  store: Pick<UsageStore, 'query'>,
  query: ExplorerQuery,
  bucketsMax: number,
): Promise<ReadonlyMap<string, ExploredMeter> | undefined> {
  const { granularity, timeZone, range, previous, top, groupBy, meterNames } = query
  const zone = new TimeZone(timeZone)
  const series = meterNames.length * (groupBy === undefined ? 1 : top + 2)
  const perSeriesMax = Math.floor(bucketsMax / series)
  const bucketsOf = (of: TimeRange | undefined, max: number): TimeRange[] | undefined =>
    of === undefined || granularity === undefined
      ? []
      : fullHours(zonedBuckets(of, granularity, zone, max))
  const ranges = bucketsOf(range, perSeriesMax)
  const earlier = ranges && bucketsOf(previous, perSeriesMax - ranges.length)
  if (ranges === undefined || earlier === undefined) return undefined
  const rows = (await exploreLargest(store, query)) ?? (await readRows(store, query))
  const shape: Shape = {
    ranges,
    earlier,
    isCompared: previous !== undefined,
    isBucketed: granularity !== undefined,
  }
  return new Map(
    meterNames.map((name) => [
      name,
      exploredMeter(
        rows.filter(({ meter }) => meter === name),
        query,
        shape,
      ),
    ]),
  )
}

/** Returns the buckets at full hours of UTC, because an hour belongs to the bucket in which it begins. */
function fullHours(buckets: readonly TimeRange[] | undefined): TimeRange[] | undefined {
  return buckets
    ?.map(({ startMs, endMs }) => ({ startMs: nextFullHour(startMs), endMs: nextFullHour(endMs) }))
    .filter(({ startMs, endMs }) => startMs < endMs)
}

async function readRows(
  store: Pick<UsageStore, 'query'>,
  query: ExplorerQuery,
): Promise<ExploredRow[]> {
  const { granularity, groupBy, previous } = query
  const { text, parameters } = explorerStatement(query)
  const keyName = keyNameOf(groupBy)
  return store.query<ExploredRow>(
    `SELECT meter_name AS meter, ${previous === undefined ? 'false' : 'toBool(is_previous)'} AS isPrevious,
       ${granularity === undefined ? `'0'` : 'toString(toUnixTimestamp(start))'} AS second,
       ${groupBy === undefined ? 'false' : 'toBool(is_other)'} AS isOther,
       ${keyName === undefined ? `''` : keyName} AS groupKey, toString(value) AS total, toString(count) AS records
     FROM (${text})`,
    parameters,
  )
}

type Shape = {
  readonly ranges: readonly TimeRange[]
  readonly earlier: readonly TimeRange[]
  readonly isCompared: boolean
  readonly isBucketed: boolean
}

function exploredMeter(
  rows: readonly ExploredRow[],
  { range, previous, groupBy }: ExplorerQuery,
  shape: Shape,
): ExploredMeter {
  const whole = new Series()
  const groups = new Map<string, Series>()
  let other: Series | undefined
  for (const row of rows) {
    const sum = { micros: microsOfDecimal(row.total), count: Number(row.records) }
    // ClickHouse returns the start of the whole bucket. In the answer, the first bucket starts with the range.
    const firstMs = row.isPrevious ? previous!.startMs : range.startMs
    const startMs = Math.max(nextFullHour(Number(row.second) * 1_000), firstMs)
    const group = row.isOther
      ? (other ??= new Series())
      : (groups.get(row.groupKey) ?? new Series())
    if (!row.isOther) groups.set(row.groupKey, group)
    for (const series of [whole, group]) {
      add(row.isPrevious ? series.previous : series.current, startMs, sum)
    }
  }
  const body = bodyOf(whole, shape)
  if (groupBy === undefined) return body
  const listed = [...groups].map(([key, series]) => ({ key, total: series.total, series }))
  listed.sort(largestFirst)
  return {
    ...body,
    groups: listed.map(({ key, series }) => ({ key, ...bodyOf(series, shape) })),
    ...(other === undefined ? {} : { other: bodyOf(other, shape) }),
  }
}

type ListedGroup = { readonly key: string; readonly total: Sum }

/** Orders groups by their usage in the range, and groups with the same usage by their keys, which differ. */
function largestFirst(one: ListedGroup, other: ListedGroup): number {
  if (one.total.micros !== other.total.micros) return one.total.micros < other.total.micros ? 1 : -1
  return one.key < other.key ? -1 : 1
}

function bodyOf({ current, previous }: Series, { ranges, earlier, isCompared, isBucketed }: Shape) {
  return {
    ...usageBody(current, ranges, isBucketed),
    ...(isCompared ? { previous: usageBody(previous, earlier, isBucketed) } : {}),
  }
}

function usageBody(
  buckets: ReadonlyMap<number, Sum>,
  ranges: readonly TimeRange[],
  isBucketed: boolean,
) {
  const filled = ranges.map(({ startMs, endMs }) => ({
    start: new Date(startMs).toISOString(),
    end: new Date(endMs).toISOString(),
    ...sumBody(buckets.get(startMs) ?? nothing),
  }))
  return { ...sumBody(totalOf(buckets)), ...(isBucketed ? { buckets: filled } : {}) }
}

function sumBody({ micros, count }: Sum): { value: number; count: number } {
  return { value: Number(decimalOfMicros(micros)), count }
}
