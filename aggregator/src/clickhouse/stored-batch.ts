import type { Column, UsageStore } from '@tollgate/platform/usage-store/usage-store'
import type { Environment } from '@tollgate/schemas/environment'
import { offsetOfNoLog } from '@tollgate/schemas/usage-records'
import { millisecondsOfDay, type BatchPiece } from '../domain/cut-batch.ts'
import { activeCustomers } from './migrations/0012-roll-up-tables.ts'
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
  /** The columns of the row as text, the time in Unix seconds. */
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
  range: Pick<BatchRange, 'environment' | 'partition'>,
  piece: BatchPiece,
  rollUp: RollUp,
): Promise<RollUpDifference[]> {
  if (await agreesWithDays(store, range, piece, rollUp)) return []
  return compareWithRecords(store, range, piece, rollUp)
}

/**
 * Returns whether the roll-up adds up to `usage_by_day` for the log partition and day of the piece. Inserts change both or, after a
 * crash, only one. The rows of `usage_by_day` are compared with the records by customer, so this finds everything that a batch did to
 * one of them alone.
 */
async function agreesWithDays(
  store: UsageStore,
  { environment, partition }: Pick<BatchRange, 'environment' | 'partition'>,
  piece: BatchPiece,
  { table, time, addsUpTo }: RollUp,
): Promise<boolean> {
  if (addsUpTo === undefined) return false
  const names = Object.entries(addsUpTo)
  const rolledUp = names.map(([name]) => `${name} AS sum_${name}`)
  const daily = names.map(([name, column]) => `-${column} AS sum_${name}`)
  const [found] = await store.query(
    `SELECT 1 AS differs
     FROM (
       SELECT product_ref, outcome, ${rolledUp.join(', ')}
       FROM ${environment}.${table.name} WHERE ${ofPartition} AND ${inDay(time)}
       UNION ALL
       SELECT product_ref, outcome, ${daily.join(', ')}
       FROM ${environment}.usage_by_day WHERE ${ofPartition} AND ${inDay('day')}
     )
     GROUP BY product_ref, outcome
     HAVING ${names.map(([name]) => `sum(sum_${name}) != 0`).join(' OR ')}
     LIMIT 1`,
    { ...pieceParameters(piece), partition },
  )
  return found === undefined
}

async function compareWithRecords(
  store: UsageStore,
  { environment, partition }: Pick<BatchRange, 'environment' | 'partition'>,
  piece: BatchPiece,
  { table, keys, sums: amounts, join, condition, time, comparedBy }: RollUp,
): Promise<RollUpDifference[]> {
  const keyNames = Object.keys(keys)
  const amountNames = Object.keys(amounts)
  const ofWriter = comparedBy === 'customer_ref' ? ofPiece : ofPartition
  const lacking = Object.entries(amounts).map(([name, amount]) => `${amount} AS lacking_${name}`)
  const negative = amountNames.map((name) => `-${name} AS lacking_${name}`)
  const sums = amountNames.map((name) => `toString(sum(lacking_${name})) AS sum_${name}`)
  const isLacking = amountNames.map((name) => `sum(lacking_${name}) != 0`)
  const shown = keyNames.map((name) =>
    name === time
      ? `toString(toUnixTimestamp(${time})) AS key_${time}`
      : `toString(${name}) AS key_${name}`,
  )
  const rows = await store.query<Record<string, string>>(
    `SELECT ${[...shown, ...sums].join(', ')}
     FROM (
       SELECT ${[...selected(keys), ...lacking].join(', ')}
       FROM ${environment}.usage_records AS record FINAL ${join}
       WHERE ${ofWriter} AND ${inDay('timestamp')} AND ${condition}
       UNION ALL
       SELECT ${[...keyNames, ...negative].join(', ')}
       FROM ${environment}.${table.name}
       WHERE ${ofWriter} AND ${inDay(time)}
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
  { table, keys, sums: amounts, time }: RollUp,
  differences: readonly RollUpDifference[],
  token: string,
): Promise<void> {
  const columns: Column<RollUpDifference>[] = [
    ...Object.keys(keys).map((name) => keyColumn(name, time)),
    ...Object.keys(amounts).map((name): Column<RollUpDifference> => ({
      name,
      type: 'String',
      value: (difference) => difference.amounts[name]!,
    })),
  ]
  await store.insert(`${environment}.${table.name}`, columns, differences, token)
}

/**
 * Adds the customers of a piece to the sketches of its hours. A sketch contains a customer once, however often it was added, so nothing
 * is compared.
 */
export async function addActiveCustomers(
  store: UsageStore,
  environment: Environment,
  { providerId, meterName, customerRefs, dayMs }: BatchPiece,
): Promise<void> {
  const ofCustomers = `provider_id = ${quoted(providerId)} AND meter_name = ${quoted(meterName)}
       AND customer_ref IN (${customerRefs.map(quoted).join(', ')})`
  const day = `timestamp >= fromUnixTimestamp64Milli(${dayMs}, 'UTC')
       AND timestamp < fromUnixTimestamp64Milli(${dayMs + millisecondsOfDay}, 'UTC')`
  const { table, keys, states, condition } = activeCustomers
  await store.command(
    `INSERT INTO ${environment}.${table.name} (${[...Object.keys(keys), ...Object.keys(states)].join(', ')})
     SELECT ${[...selected(keys), ...selected(states)].join(', ')}
     FROM ${environment}.usage_records WHERE ${ofCustomers} AND ${day} AND ${condition}
     GROUP BY ${Object.keys(keys).join(', ')}`,
  )
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}

function keyColumn(name: string, time: RollUp['time']): Column<RollUpDifference> {
  if (name !== time) return { name, type: 'String', value: ({ keys }) => keys[name]! }
  return { name, type: "DateTime64(3, 'UTC')", value: ({ keys }) => Number(keys[time]) * 1000 }
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
