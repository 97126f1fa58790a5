import { storableMs } from '@tollgate/domain/stored-usage/storable-time'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import type { Environment } from '@tollgate/schemas/environment'
import type { UsageGrouping } from '@tollgate/schemas/http/console-usage'
import type { Granularity } from '@tollgate/schemas/http/meters'
import type { TimeRange } from '../domain/usage-buckets.ts'
import {
  bucketedUsage,
  bucketStart,
  zeroSum,
  sumOf,
  type BucketedUsage,
  type SumRow,
  type UsageSum,
} from './query-usage.ts'

/**
 * Queries hourly sums of counted usage: few rows, however many records there are, for charts. A record may be counted twice if the
 * sink stored it twice after losing its position. Decisions and billing therefore use the records themselves.
 */
export type RolledUpQuery = {
  readonly environment: Environment
  readonly providerId: string
  /** Undefined means all meters. Sums of different meters may only be shown side by side. */
  readonly meterName: string | undefined
  /** The empty string means usage without a product. */
  readonly productRefs: readonly string[] | undefined
  readonly customerRefs: readonly string[] | undefined
  /** The range must consist of whole hours. */
  readonly range: TimeRange
}

type Store = Pick<UsageStore, 'query'>

const sums = 'toString(sum(value)) AS total, toString(sum(records)) AS records'

export async function sumRolledUp(store: Store, query: RolledUpQuery): Promise<UsageSum> {
  const [row] = await store.query<SumRow>(
    `SELECT ${sums} FROM (${hoursOf(query)})`,
    parametersOf(query),
  )
  return row === undefined ? zeroSum : sumOf(row)
}

/**
 * Returns the sums of the buckets and of the whole range. One query returns both, so that the buckets add up to the whole even if
 * records are stored meanwhile.
 */
export async function sumRolledUpByBucket(
  store: Store,
  query: RolledUpQuery,
  granularity: Granularity,
): Promise<BucketedUsage> {
  const rows = await store.query<SumRow & { bucket: string }>(
    `SELECT toString(toUnixTimestamp(${bucketStart[granularity]})) AS bucket, ${sums}
     FROM (${hoursOf(query)}) GROUP BY bucket WITH ROLLUP`,
    parametersOf(query),
  )
  return bucketedUsage(rows, query.range)
}

const groupColumns: Readonly<Record<UsageGrouping, string>> = {
  customer: 'customer_ref',
  product: 'product_ref',
  meter: 'meter_name',
}

export type UsageGroup = UsageSum & { readonly key: string }

/** Returns the groups with the most usage, largest first. Usage without a product belongs to no group. */
export async function listUsageGroups(
  store: Store,
  query: RolledUpQuery,
  by: UsageGrouping,
  rowsMax: number,
): Promise<UsageGroup[]> {
  const rows = await store.query<SumRow & { key: string }>(
    `SELECT ${groupColumns[by]} AS key, ${sums} FROM (${by === 'customer' ? customerHoursOf(query) : hoursOf(query)}) WHERE key != '' GROUP BY key
     ORDER BY sum(value) DESC, key LIMIT ${rowsMax}`,
    parametersOf(query),
  )
  return rows.map((row) => ({ key: row.key, ...sumOf(row) }))
}

/** Selects from the smallest table that can answer the query. */
function hoursOf(query: RolledUpQuery): string {
  if (query.customerRefs !== undefined) return customerHoursOf(query)
  return `
    SELECT value, records, product_ref, meter_name, hour AS at
    FROM ${query.environment}.usage_by_meter
    WHERE outcome = 'success' AND ${conditionsOf(query)}`
}

function customerHoursOf(query: RolledUpQuery): string {
  return `
    SELECT value, records, customer_ref, product_ref, meter_name, hour AS at
    FROM ${query.environment}.usage_by_hour
    WHERE ${conditionsOf(query)}
      ${query.customerRefs === undefined ? '' : 'AND customer_ref IN {customerRefs:Array(String)}'}`
}

function conditionsOf({ meterName, productRefs }: RolledUpQuery): string {
  return `provider_id = {providerId:String}
      AND hour >= fromUnixTimestamp64Milli({startMs:Int64}, 'UTC')
      AND hour < fromUnixTimestamp64Milli({endMs:Int64}, 'UTC')
      ${meterName === undefined ? '' : 'AND meter_name = {meterName:String}'}
      ${productRefs === undefined ? '' : 'AND product_ref IN {productRefs:Array(String)}'}`
}

function parametersOf(query: RolledUpQuery): Record<string, unknown> {
  const { providerId, meterName, productRefs, customerRefs, range } = query
  return {
    providerId,
    startMs: storableMs(range.startMs),
    endMs: storableMs(range.endMs),
    ...(meterName === undefined ? {} : { meterName }),
    ...(productRefs === undefined ? {} : { productRefs }),
    ...(customerRefs === undefined ? {} : { customerRefs }),
  }
}
