import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import { offsetOfNoLog } from '@tollgate/schemas/usage-records'
import type { CountingWindow } from '../entitlements/counting-windows.ts'
import type { Environment } from '@tollgate/schemas/environment'

export type CustomerRecords = {
  readonly environment: Environment
  readonly providerId: string
  /** All references of the customer. */
  readonly customerRefs: readonly string[]
}

/** A customer, a product and a meter. */
export type CustomerMeter = CustomerRecords & {
  /** Usage without a product counts as well. */
  readonly productRef: string
  readonly meterName: string
}

/** A customer's usage of a meter in some windows. */
export type CustomerUsage = CustomerMeter & { readonly windows: readonly CountingWindow[] }

/** The rows of one log partition up to an offset, and the rows that were moved here from another installation's log. */
export type StoredPart = {
  readonly partition: number
  readonly beforeOffset: number
}

type Store = Pick<UsageStore, 'query'>

/** Half-open, in Unix seconds. */
export type UsageWindow = Pick<CountingWindow, 'fromSecond' | 'toSecond'>

/** A time of a meter. */
export type MeterWindow = UsageWindow & { readonly meterName: string }

/**
 * Returns the usage of these parts in each of the windows, in 10^-6 units. Windows may overlap.
 *
 * A record that was stored twice has two rows until ClickHouse merges them, and FINAL merges them while it reads. The rows are
 * sorted in that order, so FINAL needs little memory, however many rows a customer has. Only rows of these parts may take part in
 * the merge. A row of a batch in progress could otherwise replace an earlier row of the same id. The condition is therefore in
 * PREWHERE, which is applied before FINAL.
 */
export async function sumStoredWindows(
  store: Store,
  query: Omit<CustomerMeter, 'meterName'>,
  windows: readonly MeterWindow[],
  parts: readonly StoredPart[],
): Promise<bigint[]> {
  const from = windows.map(({ fromSecond }) => storableMs(fromSecond * 1000))
  const to = windows.map(({ toSecond }) => storableMs(toSecond * 1000))
  const meterNames = [...new Set(windows.map(({ meterName }) => meterName))]
  const sums = windows.map(({ meterName }, index) => {
    const isOfMeter = `meter_name = {meterNames:Array(String)}[${meterNames.indexOf(meterName) + 1}]`
    const isWithin = `at >= ${from[index]} AND at < ${to[index]}`
    return `toString(toInt128(sumIf(value, ${isOfMeter} AND ${isWithin}) * 1000000))`
  })
  const [row] = await store.query<{ micros: string[] }>(
    `SELECT [${sums.join(', ')}] AS micros FROM (
       SELECT meter_name, value, toUnixTimestamp64Milli(timestamp) AS at
       FROM ${query.environment}.usage_records FINAL
       PREWHERE ${inParts(parts)}
       WHERE ${ofCustomer}
         AND meter_name IN {meterNames:Array(String)} AND product_ref IN ('', {productRef:String})
         AND outcome = 'success'
         AND timestamp >= fromUnixTimestamp64Milli({fromMs:Int64}, 'UTC')
         AND timestamp < fromUnixTimestamp64Milli({toMs:Int64}, 'UTC'))`,
    {
      ...customerOf(query),
      meterNames,
      productRef: query.productRef,
      fromMs: Math.min(...from),
      toMs: Math.max(...to),
    },
  )
  return windows.map((_, index) => BigInt(row?.micros[index] ?? '0'))
}

/** Returns the same for windows of one meter. */
export function sumStoredUsageByWindow(
  store: Store,
  { meterName, ...query }: CustomerMeter,
  windows: readonly UsageWindow[],
  parts: readonly StoredPart[],
): Promise<bigint[]> {
  const ofMeter = windows.map((window) => ({ ...window, meterName }))
  return sumStoredWindows(store, query, ofMeter, parts)
}

/** Returns what the customer's wallet paid for the records of these parts, 10^-6 credits. */
export async function sumStoredDebits(
  store: Store,
  query: CustomerRecords,
  parts: readonly StoredPart[],
): Promise<bigint> {
  const [row] = await store.query<{ micros: string }>(
    `SELECT toString(toInt128(sum(debit) * 1000000)) AS micros
     FROM ${query.environment}.usage_records FINAL
     PREWHERE ${inParts(parts)}
     WHERE ${ofCustomer} AND outcome = 'success'`,
    customerOf(query),
  )
  return BigInt(row?.micros ?? '0')
}

/** Like `sumStoredDebits`, for one product and a window. */
export async function sumStoredDebitsOfProduct(
  store: Store,
  query: CustomerRecords & { readonly productRef: string },
  { fromSecond, toSecond }: UsageWindow,
  parts: readonly StoredPart[],
): Promise<bigint> {
  const [row] = await store.query<{ micros: string }>(
    `SELECT toString(toInt128(sum(debit) * 1000000)) AS micros
     FROM ${query.environment}.usage_records FINAL
     PREWHERE ${inParts(parts)}
     WHERE ${ofCustomer} AND product_ref = {productRef:String} AND outcome = 'success'
       AND timestamp >= fromUnixTimestamp64Milli({fromMs:Int64}, 'UTC')
       AND timestamp < fromUnixTimestamp64Milli({toMs:Int64}, 'UTC')`,
    {
      ...customerOf(query),
      productRef: query.productRef,
      fromMs: storableMs(fromSecond * 1000),
      toMs: storableMs(toSecond * 1000),
    },
  )
  return BigInt(row?.micros ?? '0')
}

/** The ids are part of the URL of the query, which is limited to 1 MB. */
const idsPerQuery = 2_000

/** Returns which of the ids have a row in these parts. */
export async function listStoredIds(
  store: Store,
  query: CustomerRecords,
  parts: readonly StoredPart[],
  ids: readonly string[],
): Promise<string[]> {
  const known: string[] = []
  for (let first = 0; first < ids.length; first += idsPerQuery) {
    const rows = await store.query<{ id: string }>(
      `SELECT DISTINCT id FROM ${query.environment}.usage_records
       WHERE ${ofCustomer} AND ${inParts(parts)} AND id IN {ids:Array(String)}`,
      { ...customerOf(query), ids: ids.slice(first, first + idsPerQuery) },
    )
    known.push(...rows.map(({ id }) => id))
  }
  return known
}

const ofCustomer = `provider_id = {providerId:String} AND customer_ref IN {customerRefs:Array(String)}`

function customerOf({ providerId, customerRefs }: CustomerRecords): Record<string, unknown> {
  return { providerId, customerRefs }
}

export function inParts(parts: readonly StoredPart[]): string {
  const conditions = parts.map(
    ({ partition, beforeOffset }) =>
      `(log_partition = ${partition} AND (log_offset < ${beforeOffset} OR log_offset = ${offsetOfNoLog}))`,
  )
  return `(${conditions.join(' OR ')})`
}

/** Limits a time in Unix milliseconds to the range of the store's time type. All usage is well within that range: 1970 to 2200. */
export function storableMs(unixMs: number): number {
  return Math.min(Math.max(unixMs, 0), 7_258_118_400_000)
}
