import { withSkipIndexes } from '@tollgate/domain/stored-usage/skip-indexes'
import type { TotalsStamp } from '@tollgate/domain/stored-usage/totalled-ranges'
import { onCluster } from '@tollgate/platform/usage-store/clickhouse/migrated-place'
import type { Column, UsageStore } from '@tollgate/platform/usage-store/usage-store'
import type { Environment } from '@tollgate/schemas/environment'
import type { BatchRange } from './stored-batch.ts'
import { usageTotalsTable } from './migrations/0008-usage-totals.ts'
import { storedName } from './usage-table.ts'

/** A version of the totals of a range. Versions are random numbers below 2^48. */
export type TotalsVersion = BatchRange & { readonly version: number }

/** The sums of a range over all customers, exact decimals, and its number of counted records. */
export type RangeSums = {
  readonly value: string
  readonly debit: string
  readonly records: string
}

const noSums: RangeSums = { value: '0', debit: '0', records: '0' }

export type TotalsState =
  /** Rows of the version may exist, in part or completely. */
  | 'begun'
  /** The rows were compared with the records in this generation and incarnation. */
  | 'valid'
  /** The version is never read again. */
  | 'dropped'
  /** Its rows are deleted. */
  | 'deleted'

/**
 * Sums the records of the range by hour. The records are read in the order of the groups, in one thread, so that memory stays small
 * and other queries keep their processors.
 */
export async function insertTotals(store: UsageStore, at: TotalsVersion): Promise<void> {
  const { environment, partition, fromOffset, version } = at
  await withSkipIndexes((settings) =>
    store.command(
      `INSERT INTO ${environment}.usage_totals (provider_id, customer_ref, meter_name, product_ref, hour,
       log_partition, from_offset, version, value, debit, records)
     SELECT provider_id, customer_ref, meter_name, product_ref,
       toDateTime(toStartOfHour(timestamp), 'UTC') AS hour,
       ${partition}, ${fromOffset}, ${version}, sum(value), sum(debit), count()
     FROM ${countedRecords(at)}
     GROUP BY provider_id, customer_ref, meter_name, product_ref, hour
     SETTINGS ${inBackground}, ${settings}, max_partitions_per_insert_block = 0`,
    ),
  )
}

/** Returns what the totals of each version add up to, in one pass over the table. */
export async function readTotalsSums(
  store: UsageStore,
  environment: Environment,
  versions: readonly number[],
): Promise<ReadonlyMap<number, RangeSums>> {
  const rows = await store.query<RangeSums & { readonly version: string }>(
    `SELECT toString(version) AS version, toString(sum(value)) AS value, toString(sum(debit)) AS debit,
       toString(sum(records)) AS records
     FROM ${environment}.usage_totals WHERE version IN {versions:Array(UInt64)} GROUP BY version`,
    { versions },
  )
  const found = new Map(rows.map(({ version, ...sums }) => [Number(version), sums]))
  return new Map(versions.map((version) => [version, found.get(version) ?? noSums]))
}

/** Returns what the stored records of the range add up to. */
export async function readRecordSums(store: UsageStore, range: BatchRange): Promise<RangeSums> {
  const [row] = await withSkipIndexes((settings) =>
    store.query<RangeSums>(
      `SELECT toString(toDecimal128(sum(value), 6)) AS value, toString(sum(debit)) AS debit,
       toString(count()) AS records
     FROM ${countedRecords(range)} SETTINGS ${inBackground}, ${settings}`,
    ),
  )
  return row ?? noSums
}

export function areEqualSums(one: RangeSums, other: RangeSums): boolean {
  return one.value === other.value && one.debit === other.debit && one.records === other.records
}

/** Returns the first offset of the partition that has a stored record, or undefined if none has. */
export async function readStoredStart(
  store: UsageStore,
  { environment, partition }: Pick<BatchRange, 'environment' | 'partition'>,
  beforeOffset: number,
): Promise<number | undefined> {
  const [row] = await store.query<{ start: string; total: string }>(
    `SELECT toString(min(log_offset)) AS start, toString(count()) AS total
     FROM ${environment}.usage_records
     WHERE log_partition = {partition:UInt32} AND log_offset < {beforeOffset:UInt64}`,
    { partition, beforeOffset },
  )
  return row === undefined || row.total === '0' ? undefined : Number(row.start)
}

/** A version with its states, read from `usage_totals_ranges`. */
export type KnownVersion = RangeSums & {
  readonly fromOffset: number
  readonly toOffset: number
  readonly version: number
  /** Stamps in which the version is valid. */
  readonly stamps: readonly TotalsStamp[]
  readonly isDropped: boolean
  /** The version was dropped more than an hour ago, and its rows were not deleted yet. */
  readonly isToDelete: boolean
  /** Its last state is less than an hour old. */
  readonly isRecent: boolean
}

/** Returns every version of the partition whose rows may exist, newest range first. */
export async function listVersions(
  store: UsageStore,
  { environment, partition }: Pick<BatchRange, 'environment' | 'partition'>,
): Promise<KnownVersion[]> {
  type Row = RangeSums &
    Record<'fromOffset' | 'toOffset' | 'version', string> & {
      readonly stamps: [string, string][]
      readonly isDropped: number
      readonly isToDelete: number
      readonly isRecent: number
    }
  const rows = await store.query<Row>(
    `SELECT toString(from_offset) AS fromOffset, toString(to_offset) AS toOffset,
       toString(version) AS version,
       groupUniqArrayIf((generation, incarnation), state = 'valid') AS stamps,
       toString(maxIf(value, state = 'valid')) AS value,
       toString(maxIf(debit, state = 'valid')) AS debit,
       toString(maxIf(records, state = 'valid')) AS records,
       max(state = 'dropped') AS isDropped,
       max(state = 'dropped' AND at < now64(3) - INTERVAL 1 HOUR) AS isToDelete,
       max(at) > now64(3) - INTERVAL 1 HOUR AS isRecent
     FROM ${environment}.usage_totals_ranges WHERE log_partition = {partition:UInt32}
     GROUP BY from_offset, to_offset, version
     HAVING NOT max(state = 'deleted')
     ORDER BY to_offset DESC, from_offset DESC, version`,
    { partition },
  )
  return rows.map(({ stamps, isDropped, isToDelete, isRecent, ...row }) => ({
    ...row,
    fromOffset: Number(row.fromOffset),
    toOffset: Number(row.toOffset),
    version: Number(row.version),
    stamps: stamps.map(([generation, incarnation]) => ({ generation, incarnation })),
    isDropped: isDropped === 1,
    isToDelete: isToDelete === 1,
    isRecent: isRecent === 1,
  }))
}

/** Returns the end of the newest totals that are valid in the generation, in any incarnation, or 0 if there are none. */
export async function readTotalsEnd(
  store: UsageStore,
  environment: Environment,
  partition: number,
  generation: string,
): Promise<number> {
  const [row] = await store.query<{ end: string }>(
    `SELECT toString(max(to_offset)) AS end FROM ${environment}.usage_totals_ranges
     WHERE log_partition = {partition:UInt32} AND state = 'valid' AND generation = {generation:String}`,
    { partition, generation },
  )
  return Number(row?.end ?? '0')
}

/** Adds a state to versions of one partition, in one block. */
export async function addState(
  store: UsageStore,
  { environment, partition }: Pick<BatchRange, 'environment' | 'partition'>,
  versions: readonly Omit<TotalsVersion, 'environment' | 'partition'>[],
  state: TotalsState,
  { generation, incarnation }: TotalsStamp = noStamp,
  sumsOf: (at: { readonly version: number }) => RangeSums = () => noSums,
): Promise<void> {
  if (versions.length === 0) return
  const numbers = versions.map(({ version }) => version).join(',')
  const token = `totals-${partition}-${state}-${generation}-${incarnation}-${numbers}`
  const text = (name: string, value: (at: (typeof versions)[number]) => string) =>
    ({ name, type: 'String', value }) as const
  const number = (name: string, value: (at: (typeof versions)[number]) => number) =>
    ({ name, type: 'UInt64', value }) as const
  const columns: readonly Column<(typeof versions)[number]>[] = [
    number('log_partition', () => partition),
    number('from_offset', ({ fromOffset }) => fromOffset),
    number('to_offset', ({ toOffset }) => toOffset),
    number('version', ({ version }) => version),
    text('state', () => state),
    text('generation', () => generation),
    text('incarnation', () => incarnation),
    text('value', (at) => sumsOf(at).value),
    text('debit', (at) => sumsOf(at).debit),
    text('records', (at) => sumsOf(at).records),
  ]
  await store.insert(`${environment}.usage_totals_ranges`, columns, versions, token)
}

const noStamp: TotalsStamp = { generation: '', incarnation: '' }

/** Deletes the rows of the versions. ClickHouse marks them and removes them when it merges. */
export async function deleteTotals(
  store: UsageStore,
  environment: Environment,
  cluster: string | undefined,
  versions: readonly number[],
): Promise<void> {
  if (versions.length === 0) return
  const place = { database: environment, cluster }
  await store.command(
    `DELETE FROM ${storedName(usageTotalsTable, place)}${onCluster(place)} WHERE version IN (${versions.join(', ')})`,
  )
}

/** FINAL merges repeated rows of this range only, because PREWHERE is applied before it. */
function countedRecords({ environment, partition, fromOffset, toOffset }: BatchRange): string {
  return `${environment}.usage_records FINAL
     PREWHERE log_partition = ${partition} AND log_offset >= ${fromOffset} AND log_offset < ${toOffset}
     WHERE outcome = 'success'`
}

const inBackground = 'max_threads = 1, optimize_aggregation_in_order = 1'
