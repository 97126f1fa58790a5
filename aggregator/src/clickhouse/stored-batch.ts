import type { Column, UsageStore } from '@tollgate/platform/usage-store/usage-store'
import type { Environment } from '@tollgate/schemas/environment'
import { offsetOfNoLog } from '@tollgate/schemas/usage-records'
import { millisecondsOfDay, type BatchPiece } from '../domain/cut-batch.ts'
import { selected, type RollUp } from './roll-up.ts'

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

/** Difference between the records and one row of a roll-up. Its amounts are negative if the roll-up is too high. */
export type RollUpDifference = {
  /** The columns of the row as text, the hour in Unix seconds. */
  readonly keys: Readonly<Record<string, string>>
  /** Exact decimals by column. */
  readonly amounts: Readonly<Record<string, string>>
}

/**
 * Compares a roll-up with the records of a whole day, because it does not know which batch a row came from: of the piece's customers,
 * or of the log partition.
 */
export async function readRollUpDifferences(
  store: UsageStore,
  { environment, partition }: Pick<BatchRange, 'environment' | 'partition'>,
  piece: BatchPiece,
  { table, keys, amounts, join, condition, comparedBy }: RollUp,
): Promise<RollUpDifference[]> {
  const keyNames = Object.keys(keys)
  const amountNames = Object.keys(amounts)
  const ofWriter = comparedBy === 'customer_ref' ? ofPiece : ofPartition
  const lacking = Object.entries(amounts).map(([name, amount]) => `${amount} AS lacking_${name}`)
  const negative = amountNames.map((name) => `-${name} AS lacking_${name}`)
  const sums = amountNames.map((name) => `toString(sum(lacking_${name})) AS sum_${name}`)
  const isLacking = amountNames.map((name) => `sum(lacking_${name}) != 0`)
  const shown = keyNames.map((name) =>
    name === 'hour'
      ? 'toString(toUnixTimestamp(hour)) AS key_hour'
      : `toString(${name}) AS key_${name}`,
  )
  const rows = await store.query<Record<string, string>>(
    `SELECT ${[...shown, ...sums].join(', ')}
     FROM (
       SELECT ${[...selected(keys), ...lacking].join(', ')}
       FROM ${environment}.usage_records FINAL ${join}
       WHERE ${ofWriter} AND ${inDay('timestamp')} AND ${condition}
       UNION ALL
       SELECT ${[...keyNames, ...negative].join(', ')}
       FROM ${environment}.${table.name}
       WHERE ${ofWriter} AND ${inDay('hour')}
     )
     GROUP BY ${keyNames.join(', ')}
     HAVING ${isLacking.join(' OR ')}
     ORDER BY ${keyNames.join(', ')}`,
    { ...pieceParameters(piece), partition },
  )
  const pick = (row: Record<string, string>, prefix: string, names: readonly string[]) =>
    Object.fromEntries(names.map((name) => [name, row[`${prefix}${name}`]!]))
  return rows.map((row) => ({
    keys: pick(row, 'key_', keyNames),
    amounts: pick(row, 'sum_', amountNames),
  }))
}

/**
 * Adds the differences to the roll-up. The differences of one piece belong to one month and form one block, so all of them are
 * stored or none.
 */
export async function addToRollUp(
  store: UsageStore,
  environment: Environment,
  { table, keys, amounts }: RollUp,
  differences: readonly RollUpDifference[],
  token: string,
): Promise<void> {
  const columns: Column<RollUpDifference>[] = [
    ...Object.keys(keys).map((name) => keyColumn(name)),
    ...Object.keys(amounts).map((name): Column<RollUpDifference> => ({
      name,
      type: 'String',
      value: (difference) => difference.amounts[name]!,
    })),
  ]
  await store.insert(`${environment}.${table.name}`, columns, differences, token)
}

function keyColumn(name: string): Column<RollUpDifference> {
  if (name !== 'hour') return { name, type: 'String', value: ({ keys }) => keys[name]! }
  return { name, type: "DateTime64(3, 'UTC')", value: ({ keys }) => Number(keys['hour']) * 1000 }
}

const inRange = `log_partition = {partition:UInt32}
       AND log_offset >= {fromOffset:UInt64} AND log_offset < {toOffset:UInt64}`

function rangeParameters({ partition, fromOffset, toOffset }: BatchRange): Record<string, unknown> {
  return { partition, fromOffset, toOffset }
}

const ofMeter = 'provider_id = {providerId:String} AND meter_name = {meterName:String}'
const ofPiece = `${ofMeter} AND customer_ref IN {customerRefs:Array(String)}`
const ofPartition = `${ofMeter} AND log_partition = {partition:UInt32}`

function inDay(column: string): string {
  return `${column} >= fromUnixTimestamp64Milli({dayMs:Int64}, 'UTC')
       AND ${column} < fromUnixTimestamp64Milli({dayEndMs:Int64}, 'UTC')`
}

function pieceParameters(piece: BatchPiece): Record<string, unknown> {
  const { providerId, meterName, dayMs, customerRefs } = piece
  return { providerId, meterName, customerRefs, dayMs, dayEndMs: dayMs + millisecondsOfDay }
}
