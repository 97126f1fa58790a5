import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import type { Environment } from '@tollgate/schemas/environment'
import { offsetOfNoLog } from '@tollgate/schemas/usage-records'
import { UsageBehindError } from '../entitlements/usage-behind-error.ts'
import { cutHours, summedWindow, type SummedWindow, type TimeSpan } from './cut-hours.ts'
import { withSkipIndexes } from './skip-indexes.ts'
import {
  gapsBetween,
  joinRanges,
  listTotalledRanges,
  type OffsetRange,
  type TotalledPart,
  type TotalledRange,
} from './totalled-ranges.ts'

type Store = Pick<UsageStore, 'query'>

/** The counted records of a customer, and the column to sum. */
export type StoredSum = {
  readonly environment: Environment
  readonly providerId: string
  readonly customerRefs: readonly string[]
  readonly column: 'value' | 'debit'
  /** Undefined for records of all products. */
  readonly productRefs: readonly string[] | undefined
}

/** A time, of one meter or of all. In Unix seconds, half-open. */
export type StoredWindow = {
  readonly fromSecond: number
  readonly toSecond: number
  readonly meterName: string | undefined
}

/**
 * Milliseconds for which the versions of totals may be used after they were listed. The aggregator deletes dropped versions an hour
 * after it dropped them. A process that was suspended in between would otherwise miss their rows.
 */
const listedMaxMs = 600_000

/**
 * Returns the sum of these parts in each of the windows, in 10^-6 units. Windows may overlap.
 *
 * Ranges of offsets with totals are read from `usage_totals`, by hour. Row by row are read the records outside of these ranges, and
 * inside of them the records of hours that a window cuts. A part without a stamp is read row by row.
 *
 * A record that was stored twice has two rows until ClickHouse merges them, and FINAL merges them while it reads. The rows are
 * sorted in that order, so FINAL needs little memory, however many rows a customer has. Only rows of these parts may take part in
 * the merge. A row of a batch in progress could otherwise replace an earlier row of the same id. The condition is therefore in
 * PREWHERE, which is applied before FINAL.
 */
export async function sumStored(
  store: Store,
  sum: StoredSum,
  windows: readonly StoredWindow[],
  parts: readonly TotalledPart[],
): Promise<bigint[]> {
  if (windows.length === 0) return []
  const listedAtMs = performance.now()
  const ranges = await listTotalledRanges(store, sum.environment, parts)
  const query = sumQuery(sum, windows.map(summedWindow), parts, ranges)
  const [row] = await withSkipIndexes((settings) =>
    store.query<{ micros: string[] }>(`${query.text} SETTINGS ${settings}`, query.parameters),
  )
  if (performance.now() - listedAtMs > listedMaxMs) throw new UsageBehindError(0)
  return windows.map((_, index) => BigInt(row?.micros[index] ?? '0'))
}

/** Each row of the union names its table, because totals and single records belong to windows by different rules. */
const source = { totals: 0, rows: 1, rowsOfCutHours: 2 } as const

function sumQuery(
  sum: StoredSum,
  windows: readonly SummedWindow[],
  parts: readonly TotalledPart[],
  ranges: readonly TotalledRange[],
): { readonly text: string; readonly parameters: Readonly<Record<string, unknown>> } {
  const meterNames = [...new Set(windows.flatMap(({ meterName }) => meterName ?? []))]
  const hasMeters = meterNames.length > 0
  const outside = outsideRanges(parts, ranges)
  const selects = [rowsSelect(sum, hasMeters, source.rows, outside, [spanOf(windows)])]
  if (ranges.length > 0) {
    selects.push(totalsSelect(sum, hasMeters, spanOf(windows)))
    const cut = cutHours(windows)
    const inside = insideRanges(parts, ranges)
    if (cut.length > 0) {
      selects.push(rowsSelect(sum, hasMeters, source.rowsOfCutHours, inside, cut))
    }
  }
  const sums = windows.map(
    (window) => `toString(toInt128(sumIf(amount, ${isSummed(window, meterNames)}) * 1000000))`,
  )
  return {
    text: `SELECT [${sums.join(', ')}] AS micros FROM (${selects.join('\n UNION ALL\n')})`,
    parameters: {
      providerId: sum.providerId,
      customerRefs: sum.customerRefs,
      ...(sum.productRefs === undefined ? {} : { productRefs: sum.productRefs }),
      ...(hasMeters ? { meterNames } : {}),
      ...(ranges.length === 0 ? {} : { versions: ranges.map(({ version }) => version) }),
    },
  }
}

/** Returns the time from the start of the first window to the end of the last one. */
function spanOf(windows: readonly SummedWindow[]): TimeSpan {
  return {
    fromMs: Math.min(...windows.map(({ fromMs }) => fromMs)),
    toMs: Math.max(...windows.map(({ toMs }) => toMs)),
  }
}

/** Returns the condition that a row of the union belongs to the window. The time of totals is the start of their hour. */
function isSummed(window: SummedWindow, meterNames: readonly string[]): string {
  const { meterName, fromMs, toMs, wholeFromMs, wholeToMs } = window
  const isWhole = `at >= ${wholeFromMs} AND at < ${wholeToMs}`
  const conditions = [
    `at >= ${fromMs} AND at < ${toMs}`,
    `(source = ${source.rows} OR (source = ${source.totals}) = (${isWhole}))`,
  ]
  if (meterName !== undefined) {
    const number = meterNames.indexOf(meterName) + 1
    conditions.push(`meter_name = {meterNames:Array(String)}[${number}]`)
  }
  return conditions.join(' AND ')
}

function totalsSelect(sum: StoredSum, hasMeters: boolean, { fromMs, toMs }: TimeSpan): string {
  return `SELECT ${source.totals} AS source, toString(meter_name) AS meter_name, ${sum.column} AS amount,
     toInt64(toUnixTimestamp(hour)) * 1000 AS at
   FROM ${sum.environment}.usage_totals
   WHERE ${ofCustomer(sum, hasMeters)} AND version IN {versions:Array(UInt64)}
     AND hour >= fromUnixTimestamp64Milli(toInt64(${fromMs}), 'UTC')
     AND hour < fromUnixTimestamp64Milli(toInt64(${toMs}), 'UTC')`
}

function rowsSelect(
  sum: StoredSum,
  hasMeters: boolean,
  from: 1 | 2,
  prewhere: string,
  spans: readonly TimeSpan[],
): string {
  const within = spans.map(
    ({ fromMs, toMs }) =>
      `(timestamp >= fromUnixTimestamp64Milli(toInt64(${fromMs}), 'UTC')
        AND timestamp < fromUnixTimestamp64Milli(toInt64(${toMs}), 'UTC'))`,
  )
  return `SELECT ${from} AS source, toString(meter_name) AS meter_name, toDecimal128(${sum.column}, 6) AS amount,
     toUnixTimestamp64Milli(timestamp) AS at
   FROM ${sum.environment}.usage_records FINAL
   PREWHERE ${prewhere}
   WHERE ${ofCustomer(sum, hasMeters)} AND outcome = 'success' AND (${within.join(' OR ')})`
}

function ofCustomer({ productRefs }: StoredSum, hasMeters: boolean): string {
  const conditions = [
    'provider_id = {providerId:String}',
    'customer_ref IN {customerRefs:Array(String)}',
  ]
  if (hasMeters) conditions.push('meter_name IN {meterNames:Array(String)}')
  if (productRefs !== undefined) conditions.push('product_ref IN {productRefs:Array(String)}')
  return conditions.join(' AND ')
}

/** Returns the condition for rows of the parts that no range has. Rows that were moved here have no offset and are in no range. */
function outsideRanges(parts: readonly TotalledPart[], ranges: readonly TotalledRange[]): string {
  return inOffsets(parts, ({ partition, beforeOffset }) => [
    ...gapsBetween(rangesOf(partition, ranges), beforeOffset),
    { fromOffset: offsetOfNoLog, toOffset: offsetOfNoLog + 1 },
  ])
}

function insideRanges(parts: readonly TotalledPart[], ranges: readonly TotalledRange[]): string {
  return inOffsets(parts, ({ partition }) => rangesOf(partition, ranges))
}

function rangesOf(partition: number, ranges: readonly TotalledRange[]): OffsetRange[] {
  return joinRanges(ranges.filter((range) => range.partition === partition))
}

function inOffsets(
  parts: readonly TotalledPart[],
  rangesIn: (part: TotalledPart) => readonly OffsetRange[],
): string {
  const conditions = parts.flatMap((part) => {
    const offsets = rangesIn(part).map(
      ({ fromOffset, toOffset }) => `(log_offset >= ${fromOffset} AND log_offset < ${toOffset})`,
    )
    return offsets.length === 0
      ? []
      : [`(log_partition = ${part.partition} AND (${offsets.join(' OR ')}))`]
  })
  return conditions.length === 0 ? '0' : `(${conditions.join(' OR ')})`
}
