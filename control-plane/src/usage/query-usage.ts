import { correctedIdExpression } from '@tollgate/schemas/correction-records'
import type { Aggregation } from '@tollgate/schemas/meter-reading'
import { storableMs } from '@tollgate/domain/stored-usage/storable-time'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import { requestsMeterName } from '@tollgate/schemas/http/meter-events'
import type { Environment } from '@tollgate/schemas/environment'
import { toolMeterPrefix } from '@tollgate/schemas/http/mcp'
import type { Granularity } from '@tollgate/schemas/http/meters'
import type { TimeRange } from '../domain/usage-buckets.ts'
import type { Condition } from './usage-filter.ts'

export type UsageQuery = {
  readonly environment: Environment
  readonly providerId: string
  readonly meterName: string
  readonly aggregation: Aggregation
  /** Undefined means all customers. */
  readonly customerRefs: readonly string[] | undefined
  readonly range: TimeRange
  readonly outcome: 'success' | 'paywall' | 'fail' | 'all'
  /** A further condition of the records. Undefined for none. */
  readonly filter: Condition | undefined
}

export type UsageSum = {
  /** The amounts by the aggregation of the meter, as decimal text. */
  readonly total: string
  readonly count: number
}

/** A row as the store returns it. */
export type SumRow = { readonly total: string; readonly records: string }

export function sumOf({ total, records }: SumRow): UsageSum {
  return { total, count: Number(records) }
}

/**
 * SQL expressions for the total of distinct records. A meter of the aggregation `count` sums up values too: calls that name it may
 * have any value, and events that it reads have the value 1. The last record is the one with the newest time of usage.
 */
export const amountOf: Readonly<Record<Aggregation, string>> = {
  sum: 'sum(amount)',
  count: 'sum(amount)',
  max: 'max(amount)',
  unique: 'uniqExact(text)',
  last: 'argMax(amount, (at, received, id))',
}

/** The same totals as decimal text. */
export const totals = Object.fromEntries(
  Object.entries(amountOf).map(([aggregation, amount]) => [aggregation, `toString(${amount})`]),
) as Readonly<Record<Aggregation, string>>

/** Columns that only some aggregations read: of each record, and of an original record with its corrections. */
const furtherColumns = {
  max: { ofRecord: '', ofOriginal: '' },
  unique: { ofRecord: ', any(value_text) AS one_text', ofOriginal: ', any(one_text) AS text' },
  last: {
    ofRecord: ', any(received_at) AS one_received',
    // A corrected value is as old as its record.
    ofOriginal: ', original AS id, min(one_received) AS received',
  },
} as const

type Store = Pick<UsageStore, 'query'>

export async function sumUsage(store: Store, query: UsageQuery): Promise<UsageSum> {
  const [row] = await store.query<SumRow>(
    `SELECT ${totals[query.aggregation]} AS total, toString(count()) AS records
     FROM (${distinctRecords(query)})`,
    parametersOf(query),
  )
  return row === undefined ? zeroSum : sumOf(row)
}

export const zeroSum: UsageSum = { total: '0', count: 0 }

/** SQL expressions for the start of the bucket that contains the column `at`. */
export const bucketStart: Readonly<Record<Granularity, string>> = {
  hour: `toStartOfInterval(at, INTERVAL 1 HOUR, 'UTC')`,
  day: `toStartOfDay(at, 'UTC')`,
  week: `toDateTime(toMonday(at, 'UTC'), 'UTC')`,
  month: `toDateTime(toStartOfMonth(at, 'UTC'), 'UTC')`,
}

export type BucketedUsage = {
  readonly whole: UsageSum
  /** Sums by the start of the bucket in Unix milliseconds. Buckets without records are omitted. */
  readonly buckets: ReadonlyMap<number, UsageSum>
}

/**
 * Returns the sums of the buckets and of the whole range. One query returns both, so that the buckets add up to the whole even if
 * records are stored meanwhile.
 */
export async function sumUsageByBucket(
  store: Store,
  query: UsageQuery,
  granularity: Granularity,
): Promise<BucketedUsage> {
  const rows = await store.query<SumRow & { bucket: string }>(
    `SELECT toString(toUnixTimestamp(${bucketStart[granularity]})) AS bucket,
       ${totals[query.aggregation]} AS total, toString(count()) AS records
     FROM (${distinctRecords(query)}) GROUP BY bucket WITH ROLLUP`,
    parametersOf(query),
  )
  return bucketedUsage(rows, query.range)
}

/** Converts the rows of a query with a roll-up by `bucket`. */
export function bucketedUsage(
  rows: readonly (SumRow & { readonly bucket: string })[],
  range: TimeRange,
): BucketedUsage {
  const buckets = new Map<number, UsageSum>()
  let whole = zeroSum
  for (const row of rows) {
    const sum = sumOf(row)
    // The total row of the roll-up has no bucket. A bucket that began before the range starts at the start of the range, like the
    // bucket that it is matched with.
    if (row.bucket === '') whole = sum
    else buckets.set(Math.max(Number(row.bucket) * 1000, range.startMs), sum)
  }
  return { whole, buckets }
}

/**
 * Groups records by id, so that a record that was stored twice is counted once, also before ClickHouse has merged its parts. Sums add the
 * records of corrections to the original records. All other aggregations read a corrected record with its remaining value, and no
 * record whose value was removed. `group` is an expression for the column `group_values`.
 */
export function distinctRecords(query: UsageQuery, group?: string): string {
  const { aggregation } = query
  const groupAs = (name: string): string => (group === undefined ? '' : `, ${group} AS ${name}`)
  if (aggregation === 'sum' || aggregation === 'count') {
    return recordsById(
      query,
      `any(value) AS amount, any(timestamp) AS at${groupAs('group_values')}`,
    )
  }
  const { ofRecord, ofOriginal } = furtherColumns[aggregation]
  const ofGroup = group === undefined ? '' : ', any(one_group_values) AS group_values'
  // The subquery has other names: ClickHouse would replace a column that has the name of a result by the aggregate of that result.
  const columns = `any(value) AS one_amount, any(timestamp) AS one_at,
      any(${correctedIdExpression}) AS original${ofRecord}${groupAs('one_group_values')}`
  return `
    SELECT sum(one_amount) AS amount, any(one_at) AS at${ofOriginal}${ofGroup}
    FROM (${recordsById(query, columns)})
    GROUP BY original HAVING sum(one_amount) != 0 OR count() = 1`
}

function recordsById(query: UsageQuery, columns: string): string {
  return `
    SELECT ${columns}
    FROM ${query.environment}.usage_records
    WHERE provider_id = {providerId:String} AND ${meterCondition(query)}
      AND timestamp >= fromUnixTimestamp64Milli({startMs:Int64}, 'UTC')
      AND timestamp < fromUnixTimestamp64Milli({endMs:Int64}, 'UTC')
      ${query.customerRefs === undefined ? '' : 'AND customer_ref IN {customerRefs:Array(String)}'}
      ${query.outcome === 'all' ? '' : 'AND outcome = {outcome:String}'}${query.filter?.text ?? ''}
    GROUP BY id`
}

/**
 * Tool calls are recorded on the built-in meter of requests with the tool's name, or on a separate meter. The tool's name is in the
 * metadata of usage that the MCP proxy records, or in the properties of a meter event.
 */
function meterCondition({ meterName }: UsageQuery): string {
  if (!meterName.startsWith(toolMeterPrefix)) return 'meter_name = {meterName:String}'
  return `(meter_name = {meterName:String} OR (meter_name = {limitMeter:String}
    AND {toolName:String} IN (JSONExtractString(properties, 'metadata', 'toolName'),
      JSONExtractString(properties, 'toolName'))))`
}

export function parametersOf(query: UsageQuery): Record<string, unknown> {
  const { meterName } = query
  return {
    providerId: query.providerId,
    meterName,
    startMs: storableMs(query.range.startMs),
    endMs: storableMs(query.range.endMs),
    ...(query.customerRefs === undefined ? {} : { customerRefs: query.customerRefs }),
    ...(query.outcome === 'all' ? {} : { outcome: query.outcome }),
    ...(meterName.startsWith(toolMeterPrefix)
      ? { limitMeter: requestsMeterName, toolName: meterName.slice(toolMeterPrefix.length) }
      : {}),
    ...query.filter?.parameters,
  }
}
