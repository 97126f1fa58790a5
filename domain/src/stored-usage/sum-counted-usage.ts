import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import type { Environment } from '@tollgate/schemas/environment'
import { offsetOfNoLog } from '@tollgate/schemas/usage-records'
import { filterOf, type DimensionFilter } from './query-charged-usage.ts'
import { storableMs } from './storable-time.ts'
import { inParts, type StoredPart, type UsageWindow } from './query-stored-usage.ts'

type Store = Pick<UsageStore, 'query'>

/** Usage under one reference, of the records before an offset of its log partition. */
export type CountedReference = {
  readonly customerRef: string
  /** Usage without a product counts as well. */
  readonly productRef: string
  readonly window: UsageWindow
  readonly beforeOffset: number
}

export type CountedProvider = {
  readonly environment: Environment
  readonly providerId: string
  readonly meterName: string
  /** Only records whose dimensions have one of these values. Absent for all records of the meter. */
  readonly where?: DimensionFilter | undefined
}

/**
 * Returns the usage of each reference, in 10^-6 units. Offsets must be within the parts, whose rows no longer change, so that
 * repeated rows count once and every offset is between two records. Reconciliation compares these sums with bills and counters, so
 * they are never made from totals: a wrong total would go unnoticed.
 */
export async function sumCountedUsage(
  store: Store,
  { environment, providerId, meterName, where }: CountedProvider,
  counted: readonly CountedReference[],
  parts: readonly StoredPart[],
): Promise<bigint[]> {
  if (counted.length === 0) return []
  const from = counted.map(({ window }) => storableMs(window.fromSecond * 1000))
  const to = counted.map(({ window }) => storableMs(window.toSecond * 1000))
  const filter = where === undefined ? undefined : filterOf(where)
  const rows = await store.query<{ number: string; micros: string }>(
    `SELECT toString(number) AS number, toString(toInt128(sum(value) * 1000000)) AS micros
     FROM (
       SELECT customer_ref, product_ref, value, toUnixTimestamp64Milli(timestamp) AS at, log_offset
       FROM ${environment}.usage_records FINAL
       PREWHERE ${inParts(parts)}
       WHERE provider_id = {providerId:String} AND meter_name = {meterName:String}
         AND customer_ref IN {refs:Array(String)} AND outcome = 'success'
         ${filter === undefined ? '' : `AND ${filter.expression}`}
         AND timestamp >= fromUnixTimestamp64Milli({fromMs:Int64}, 'UTC')
         AND timestamp < fromUnixTimestamp64Milli({toMs:Int64}, 'UTC')
     ) AS used
     INNER JOIN (
       SELECT number, ref, product, from_ms, to_ms, before FROM system.one
       ARRAY JOIN arrayEnumerate({refs:Array(String)}) AS number, {refs:Array(String)} AS ref,
         {products:Array(String)} AS product, {from:Array(Int64)} AS from_ms,
         {to:Array(Int64)} AS to_ms, {before:Array(UInt64)} AS before
     ) AS asked ON used.customer_ref = asked.ref
     WHERE product_ref IN ('', product) AND at >= from_ms AND at < to_ms
       AND (log_offset < before OR log_offset = ${offsetOfNoLog})
     GROUP BY number`,
    {
      providerId,
      meterName,
      refs: counted.map(({ customerRef }) => customerRef),
      products: counted.map(({ productRef }) => productRef),
      from,
      to,
      before: counted.map(({ beforeOffset }) => beforeOffset),
      fromMs: Math.min(...from),
      toMs: Math.max(...to),
      ...filter?.parameters,
    },
  )
  const sums = new Map(rows.map(({ number, micros }) => [Number(number), BigInt(micros)]))
  return counted.map((_, index) => sums.get(index + 1) ?? 0n)
}

/** A wallet, and two offsets of its log partition: debits of the records before each of them are summed. */
export type CountedWallet = {
  readonly customerRef: string
  readonly beforeOffset: number
  readonly beforePosted: number
}

export type CountedDebits = { readonly countedMicros: bigint; readonly postedMicros: bigint }

/** Returns the debits of each wallet, in 10^-6 credits. The same conditions apply as for `sumCountedUsage`. */
export async function sumCountedDebits(
  store: Store,
  { environment, providerId }: Omit<CountedProvider, 'meterName' | 'where'>,
  counted: readonly CountedWallet[],
  parts: readonly StoredPart[],
): Promise<CountedDebits[]> {
  if (counted.length === 0) return []
  const rows = await store.query<{ ref: string; counted: string; posted: string }>(
    `SELECT ref,
       toString(toInt128(sumIf(debit, log_offset < before OR is_moved) * 1000000)) AS counted,
       toString(toInt128(sumIf(debit, log_offset < posted_before OR is_moved) * 1000000)) AS posted
     FROM (
       SELECT customer_ref, debit, log_offset, log_offset = ${offsetOfNoLog} AS is_moved
       FROM ${environment}.usage_records FINAL
       PREWHERE ${inParts(parts)}
       WHERE provider_id = {providerId:String} AND customer_ref IN {refs:Array(String)}
         AND outcome = 'success' AND debit != 0
     ) AS used
     INNER JOIN (
       SELECT ref, before, posted_before FROM system.one
       ARRAY JOIN {refs:Array(String)} AS ref, {before:Array(UInt64)} AS before,
         {posted:Array(UInt64)} AS posted_before
     ) AS asked ON used.customer_ref = asked.ref
     GROUP BY ref`,
    {
      providerId,
      refs: counted.map(({ customerRef }) => customerRef),
      before: counted.map(({ beforeOffset }) => beforeOffset),
      posted: counted.map(({ beforePosted }) => beforePosted),
    },
  )
  const sums = new Map(rows.map((row) => [row.ref, row]))
  return counted.map(({ customerRef }) => {
    const { counted = '0', posted = '0' } = sums.get(customerRef) ?? {}
    return { countedMicros: BigInt(counted), postedMicros: BigInt(posted) }
  })
}
