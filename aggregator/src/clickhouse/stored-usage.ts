import type { Mark } from '@tollgate/platform/hot-state/hot-state'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import type { Environment } from '@tollgate/schemas/environment'
import { offsetOfNoLog } from '@tollgate/schemas/usage-records'

/**
 * The records of one log partition that ClickHouse has before an offset, including records that were moved there from another log.
 */
export type StoredRange = {
  readonly environment: Environment
  readonly partition: number
  readonly beforeOffset: number
}

/** A range of customers of one provider and meter. Their rows are adjacent in the table and fit into one query result. */
export type Slice = {
  readonly providerId: string
  readonly meterName: string
  readonly firstCustomerRef: string
  readonly lastCustomerRef: string
  readonly recordsTotal: number
}

/** Target number of records in one query result. A single customer may have more. */
const sliceRecords = 200_000

/**
 * Splits the range so that each query result is small and each query reads only its own part of the table, which is sorted by these
 * columns.
 */
export async function listSlices(store: UsageStore, range: StoredRange): Promise<Slice[]> {
  const rows = await store.query<Omit<Slice, 'recordsTotal'> & { recordsTotal: string }>(
    `SELECT provider_id AS providerId, meter_name AS meterName, min(customer_ref) AS firstCustomerRef,
       max(customer_ref) AS lastCustomerRef, sum(records) AS recordsTotal
     FROM (
       SELECT provider_id, meter_name, customer_ref, records, intDiv(
         sum(records) OVER (
           PARTITION BY provider_id, meter_name ORDER BY customer_ref
           ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
         ) - records, ${sliceRecords}) AS slice
       FROM (
         SELECT provider_id, meter_name, customer_ref, count() AS records
         FROM ${tableOf(range)} WHERE ${inRange}
         GROUP BY provider_id, meter_name, customer_ref
       )
     )
     GROUP BY provider_id, meter_name, slice
     ORDER BY provider_id, meter_name, firstCustomerRef`,
    rangeParameters(range),
  )
  return rows.map((row) => ({ ...row, recordsTotal: Number(row.recordsTotal) }))
}

/** A part of a slice whose marks fit into one query result: a range of time, and one part of `parts` by the hash of the id. */
export type MarkShare = {
  readonly fromSecond: number
  /** The end is exclusive. */
  readonly toSecond: number
  readonly part: number
  readonly parts: number
}

const secondsOfHour = 3_600
/** This second is in the year 2106, after all usage. */
const endOfTime = 2 ** 32 - 1

/** Splits a slice by time, by which the table is sorted within a customer, so that each record is read for one share only. */
export async function listMarkShares(
  store: UsageStore,
  range: StoredRange,
  slice: Slice,
  receivedSinceMs: number,
): Promise<MarkShare[]> {
  if (slice.recordsTotal <= sliceRecords) {
    return [{ fromSecond: 0, toSecond: endOfTime, part: 0, parts: 1 }]
  }
  const rows = await store.query<{ hour: number; records: string }>(
    `SELECT toUnixTimestamp(toStartOfHour(timestamp)) AS hour, count() AS records
     FROM ${tableOf(range)} WHERE ${inRange} AND ${inSlice} AND ${isMarked}
     GROUP BY hour ORDER BY hour`,
    { ...rangeParameters(range), ...sliceParameters(slice), ...markParameters(receivedSinceMs) },
  )
  return [...sharesOf(rows.map(({ hour, records }) => ({ hour, records: Number(records) })))]
}

/** An hour with too many records for one query result is split by the hash of the ids, which are evenly distributed. */
function* sharesOf(
  hours: readonly { readonly hour: number; readonly records: number }[],
): Generator<MarkShare> {
  let records = 0
  let fromSecond = 0
  for (const [index, each] of hours.entries()) {
    if (records === 0) fromSecond = each.hour
    records += each.records
    const next = hours[index + 1]
    if (next !== undefined && records + next.records <= sliceRecords) continue
    const parts = Math.ceil(records / sliceRecords)
    const toSecond = each.hour + secondsOfHour
    for (let part = 0; part < parts; part += 1) yield { fromSecond, toSecond, part, parts }
    records = 0
  }
}

/** Returns the marks of a share: those of its records with an idempotency key that were received since `receivedSinceMs`. */
export async function readStoredMarks(
  store: UsageStore,
  range: StoredRange,
  slice: Slice,
  receivedSinceMs: number,
  share: MarkShare,
): Promise<Mark[]> {
  const rows = await store.query<{ id: string; offset: string; receivedAtMs: string }>(
    `SELECT id, min(log_offset) AS offset, toUnixTimestamp64Milli(min(received_at)) AS receivedAtMs
     FROM ${tableOf(range)} WHERE ${inRange} AND ${inSlice} AND ${isMarked}
       AND timestamp >= fromUnixTimestamp64Milli({fromMs:Int64}, 'UTC')
       AND timestamp < fromUnixTimestamp64Milli({toMs:Int64}, 'UTC')
       AND cityHash64(id) % {parts:UInt32} = {part:UInt32}
     GROUP BY id`,
    {
      ...rangeParameters(range),
      ...sliceParameters(slice),
      ...markParameters(receivedSinceMs),
      fromMs: share.fromSecond * 1000,
      toMs: share.toSecond * 1000,
      parts: share.parts,
      part: share.part,
    },
  )
  return rows.map(({ id, offset, receivedAtMs }) => ({
    id,
    offset: Number(offset),
    receivedAtMs: Number(receivedAtMs),
  }))
}

/**
 * Usage of one product by one customer from one second to another, both inclusive. The product '' means usage that names no
 * product.
 */
export type UsageSum = {
  readonly customerRef: string
  readonly productRef: string
  readonly fromSecond: number
  readonly lastSecond: number
  /** 10^-6 units. */
  readonly amount: bigint
  /** Credits that the customer's wallet paid for it, in 10^-6 credits. */
  readonly debit: bigint
  /** Number of records in the sum. */
  readonly records: number
}

/** Returns the counted usage of a slice by day (UTC). Each sum has the seconds of its first and last record. */
export async function readDailySums(
  store: UsageStore,
  range: StoredRange,
  slice: Slice,
): Promise<UsageSum[]> {
  const rows = await store.query<SumRow>(
    `${selectSums(range)} GROUP BY customer_ref, product_ref, ${dayOfRecord}`,
    { ...rangeParameters(range), ...sliceParameters(slice) },
  )
  return rows.map(toSum)
}

/** Returns the counted usage by second, for the days of the given sums or for all days. */
export async function readSecondSums(
  store: UsageStore,
  range: StoredRange,
  slice: Slice,
  daily: readonly UsageSum[] | 'all',
): Promise<UsageSum[]> {
  const rows = await store.query<SumRow>(
    `${selectSums(range)} ${daily === 'all' ? '' : inDays}
     GROUP BY customer_ref, product_ref, toUnixTimestamp(timestamp)`,
    {
      ...rangeParameters(range),
      ...sliceParameters(slice),
      ...(daily === 'all' ? {} : dayParameters(daily)),
    },
  )
  return rows.map(toSum)
}

const secondsOfDay = 86_400
const dayOfRecord = `toUnixTimestamp(toStartOfDay(timestamp, 'UTC'))`

/** Returns the second of midnight (UTC) of the day that contains `second`. */
export function startOfDay(second: number): number {
  return second - (second % secondsOfDay)
}

const inDays = `AND (customer_ref, product_ref, ${dayOfRecord}) IN (
         SELECT day.1, day.2, day.3 FROM (
           SELECT arrayJoin(arrayZip(
             {customerRefs:Array(String)}, {productRefs:Array(String)}, {days:Array(UInt32)}
           )) AS day
         )
       )`

function dayParameters(daily: readonly UsageSum[]): Record<string, unknown> {
  return {
    customerRefs: daily.map(({ customerRef }) => customerRef),
    productRefs: daily.map(({ productRef }) => productRef),
    days: daily.map(({ fromSecond }) => startOfDay(fromSecond)),
  }
}

type SumRow = Omit<UsageSum, 'amount' | 'debit' | 'records'> & {
  readonly micros: string
  readonly debitMicros: string
  readonly recordsText: string
}

/** A record that was stored twice has two rows until ClickHouse merges them. FINAL merges them during the read. */
function selectSums(range: StoredRange): string {
  return `SELECT customer_ref AS customerRef, product_ref AS productRef,
       toUnixTimestamp(min(timestamp)) AS fromSecond, toUnixTimestamp(max(timestamp)) AS lastSecond,
       toString(toInt128(sum(value) * 1000000)) AS micros,
       toString(toInt128(sum(debit) * 1000000)) AS debitMicros, toString(count()) AS recordsText
     FROM ${tableOf(range)} FINAL
     WHERE ${inRange} AND ${inSlice} AND outcome = 'success'`
}

function toSum({ micros, debitMicros, recordsText, ...of }: SumRow): UsageSum {
  const [amount, debit] = [BigInt(micros), BigInt(debitMicros)]
  return { ...of, amount, debit, records: Number(recordsText) }
}

const inRange = `log_partition = {partition:UInt32}
       AND (log_offset < {beforeOffset:UInt64} OR log_offset = ${offsetOfNoLog})`

const isMarked = `idempotency_key != '' AND received_at >= fromUnixTimestamp64Milli({sinceMs:Int64}, 'UTC')`

function markParameters(receivedSinceMs: number): Record<string, unknown> {
  return { sinceMs: Math.max(0, Math.floor(receivedSinceMs)) }
}

const inSlice = `provider_id = {providerId:String} AND meter_name = {meterName:String}
       AND customer_ref >= {firstCustomerRef:String} AND customer_ref <= {lastCustomerRef:String}`

function tableOf({ environment }: StoredRange): string {
  return `${environment}.usage_records`
}

function rangeParameters({ partition, beforeOffset }: StoredRange): Record<string, unknown> {
  return { partition, beforeOffset }
}

function sliceParameters({ recordsTotal: _, ...slice }: Slice): Record<string, unknown> {
  return slice
}
