import type { Column, UsageStore } from '@tollgate/platform/usage-store/usage-store'
import type { Environment } from '@tollgate/schemas/environment'
import { offsetOfNoLog } from '@tollgate/schemas/usage-records'
import { millisecondsOfDay, type BatchPiece } from '../domain/cut-batch.ts'

/** The records [fromOffset, toOffset) of one log partition. */
export type BatchRange = {
  readonly environment: Environment
  readonly partition: number
  readonly fromOffset: number
  readonly toOffset: number
}

/** Returns the offset and id of each record of the piece that is in `usage_records`. */
export async function listStored(
  store: UsageStore,
  range: BatchRange,
  piece: BatchPiece,
): Promise<ReadonlyMap<number, string>> {
  const rows = await store.query<{ offset: string; id: string }>(
    `SELECT DISTINCT log_offset AS offset, id FROM ${range.environment}.usage_records
     WHERE ${ofPiece} AND ${inDay('timestamp')} AND ${inRange}`,
    { ...pieceParameters(piece), ...rangeParameters(range) },
  )
  return new Map(rows.map(({ offset, id }) => [Number(offset), id]))
}

export type CustomerIds = {
  readonly providerId: string
  readonly customerRefs: readonly string[]
  readonly ids: readonly string[]
}

/** Returns the ids that have a row in the partition before `beforeOffset`, of any meter and time. */
export async function listIdsStoredBefore(
  store: UsageStore,
  { environment, partition }: Pick<BatchRange, 'environment' | 'partition'>,
  beforeOffset: number,
  wanted: CustomerIds,
): Promise<ReadonlySet<string>> {
  const rows = await store.query<{ id: string }>(
    `SELECT DISTINCT id FROM ${environment}.usage_records
     WHERE provider_id = {providerId:String} AND customer_ref IN {customerRefs:Array(String)}
       AND id IN {ids:Array(String)}
       AND log_partition = {partition:UInt32}
       AND (log_offset < {beforeOffset:UInt64} OR log_offset = ${offsetOfNoLog})`,
    { ...wanted, partition, beforeOffset },
  )
  return new Set(rows.map(({ id }) => id))
}

/** Returns the offset after the last stored record of the partition, or 0 if none is stored. */
export async function readStoredEnd(
  store: UsageStore,
  { environment, partition }: Pick<BatchRange, 'environment' | 'partition'>,
  beforeOffset: number,
): Promise<number> {
  const [row] = await store.query<{ end: string }>(
    `SELECT toString(if(count() = 0, 0, max(log_offset) + 1)) AS end FROM ${environment}.usage_records
     WHERE log_partition = {partition:UInt32} AND log_offset < {beforeOffset:UInt64}`,
    { partition, beforeOffset },
  )
  return Number(row?.end ?? '0')
}

/** Returns how many records of the range the table has. Each record counts once. */
export async function countInRange(
  store: UsageStore,
  range: BatchRange,
  table: 'credit_debits' | 'unreadable_records',
): Promise<number> {
  const [row] = await store.query<{ total: string }>(
    `SELECT uniqExact(log_offset) AS total FROM ${range.environment}.${table} WHERE ${inRange}`,
    rangeParameters(range),
  )
  return Number(row?.total)
}

/** The amount that `usage_by_hour` lacks in an hour. It is negative if the roll-up is too high. */
export type RollUpDifference = {
  readonly providerId: string
  readonly meterName: string
  readonly customerRef: string
  readonly productRef: string
  /** Start of the hour in Unix milliseconds. */
  readonly hourMs: number
  /** Exact decimals. */
  readonly value: string
  readonly records: string
}

/**
 * Compares the roll-up with the records of the customers' whole day, because the roll-up does not know which batch a row came from.
 */
export async function readRollUpDifferences(
  store: UsageStore,
  environment: Environment,
  piece: BatchPiece,
): Promise<RollUpDifference[]> {
  const rows = await store.query<Omit<RollUpDifference, 'hourMs'> & { hourSecond: number }>(
    `SELECT provider_id AS providerId, meter_name AS meterName, customer_ref AS customerRef,
       product_ref AS productRef, toUnixTimestamp(hour) AS hourSecond,
       toString(sum(lacking)) AS value, toString(sum(lackingRecords)) AS records
     FROM (
       SELECT provider_id, meter_name, customer_ref, product_ref,
         toDateTime(toStartOfHour(timestamp), 'UTC') AS hour,
         toDecimal128(value, 6) AS lacking, toInt64(1) AS lackingRecords
       FROM ${environment}.usage_records FINAL
       WHERE ${ofPiece} AND ${inDay('timestamp')} AND outcome = 'success'
       UNION ALL
       SELECT provider_id, meter_name, customer_ref, product_ref, hour,
         -value AS lacking, -records AS lackingRecords
       FROM ${environment}.usage_by_hour
       WHERE ${ofPiece} AND ${inDay('hour')}
     )
     GROUP BY provider_id, meter_name, customer_ref, product_ref, hour
     HAVING sum(lacking) != 0 OR sum(lackingRecords) != 0
     ORDER BY customer_ref, product_ref, hour`,
    pieceParameters(piece),
  )
  return rows.map(({ hourSecond, ...row }) => ({ ...row, hourMs: hourSecond * 1000 }))
}

/**
 * Adds the differences to the roll-up. The differences of one piece belong to one month and form one block, so all of them are
 * stored or none.
 */
export async function addToRollUp(
  store: UsageStore,
  environment: Environment,
  differences: readonly RollUpDifference[],
  token: string,
): Promise<void> {
  await store.insert(`${environment}.usage_by_hour`, rollUpColumns, differences, token)
}

const rollUpColumns: readonly Column<RollUpDifference>[] = [
  { name: 'provider_id', type: 'String', value: ({ providerId }) => providerId },
  { name: 'meter_name', type: 'String', value: ({ meterName }) => meterName },
  { name: 'customer_ref', type: 'String', value: ({ customerRef }) => customerRef },
  { name: 'product_ref', type: 'String', value: ({ productRef }) => productRef },
  { name: 'hour', type: "DateTime64(3, 'UTC')", value: ({ hourMs }) => hourMs },
  { name: 'value', type: 'String', value: ({ value }) => value },
  { name: 'records', type: 'String', value: ({ records }) => records },
]

const inRange = `log_partition = {partition:UInt32}
       AND log_offset >= {fromOffset:UInt64} AND log_offset < {toOffset:UInt64}`

function rangeParameters({ partition, fromOffset, toOffset }: BatchRange): Record<string, unknown> {
  return { partition, fromOffset, toOffset }
}

const ofPiece = `provider_id = {providerId:String} AND meter_name = {meterName:String}
       AND customer_ref IN {customerRefs:Array(String)}`

function inDay(column: string): string {
  return `${column} >= fromUnixTimestamp64Milli({dayMs:Int64}, 'UTC')
       AND ${column} < fromUnixTimestamp64Milli({dayEndMs:Int64}, 'UTC')`
}

function pieceParameters(piece: BatchPiece): Record<string, unknown> {
  const { providerId, meterName, dayMs, customerRefs } = piece
  return { providerId, meterName, customerRefs, dayMs, dayEndMs: dayMs + millisecondsOfDay }
}
