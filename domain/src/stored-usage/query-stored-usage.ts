import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import { offsetOfNoLog } from '@tollgate/schemas/usage-records'
import type { CountingWindow } from '../entitlements/counting-windows.ts'
import type { Environment } from '@tollgate/schemas/environment'
import { sumStored } from './sum-stored.ts'
import type { TotalledPart } from './totalled-ranges.ts'

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

/**
 * The rows of one log partition up to an offset, and the rows that were moved here from another installation's log. With the stamp
 * of its totals, sums read those instead of rows where they can.
 */
export type StoredPart = TotalledPart

type Store = Pick<UsageStore, 'query'>

/** Half-open, in Unix seconds. */
export type UsageWindow = Pick<CountingWindow, 'fromSecond' | 'toSecond'>

/** A time of a meter. */
export type MeterWindow = UsageWindow & { readonly meterName: string }

/** Returns the usage of these parts in each of the windows, in 10^-6 units. Windows may overlap. */
export function sumStoredWindows(
  store: Store,
  { productRef, ...records }: Omit<CustomerMeter, 'meterName'>,
  windows: readonly MeterWindow[],
  parts: readonly StoredPart[],
): Promise<bigint[]> {
  const sum = { ...records, column: 'value', productRefs: ['', productRef] } as const
  return sumStored(store, sum, windows, parts)
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
  records: CustomerRecords,
  parts: readonly StoredPart[],
): Promise<bigint> {
  const sum = { ...records, column: 'debit', productRefs: undefined } as const
  const [micros] = await sumStored(store, sum, [{ ...allTime, meterName: undefined }], parts)
  return micros!
}

/** A window with the time of every record. */
const allTime: UsageWindow = { fromSecond: 0, toSecond: 2 ** 40 }

/** Like `sumStoredDebits`, for one product and a window. */
export async function sumStoredDebitsOfProduct(
  store: Store,
  { productRef, ...records }: CustomerRecords & { readonly productRef: string },
  { fromSecond, toSecond }: UsageWindow,
  parts: readonly StoredPart[],
): Promise<bigint> {
  const sum = { ...records, column: 'debit', productRefs: [productRef] } as const
  const window = { fromSecond, toSecond, meterName: undefined }
  const [micros] = await sumStored(store, sum, [window], parts)
  return micros!
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
