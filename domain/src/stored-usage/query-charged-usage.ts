import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import {
  sumStoredUsageByWindow,
  inParts,
  type CustomerMeter,
  type StoredPart,
  type UsageWindow,
} from './query-stored-usage.ts'
import { storableMs } from './storable-time.ts'

/** Values of dimensions that select records. No value is empty, because a record without the dimension has an empty one. */
export type DimensionFilter = Readonly<Record<string, readonly string[]>>

/** The usage of a customer that a charge prices. */
type ChargedUsage = CustomerMeter & {
  /** Only records whose dimensions have one of these values. Undefined for all records of the meter. */
  readonly where: DimensionFilter | undefined
  /** The rows of a matrix: values of dimensions, of which the first that a record has select its row. Undefined for none. */
  readonly rows: readonly Readonly<Record<string, string>>[] | undefined
}

/**
 * Returns the usage of these parts in each of the windows, in 10^-6 units, by row: one number for each row, and the last one for
 * the records that match no row. Without rows there is a single number.
 *
 * Totals have no dimensions, so a charge with a filter or rows reads the records row by row. FINAL and the conditions are as in
 * `sumStored`.
 */
export async function sumStoredUsageByRow(
  store: Pick<UsageStore, 'query'>,
  query: ChargedUsage,
  windows: readonly UsageWindow[],
  parts: readonly StoredPart[],
): Promise<bigint[][]> {
  const { rows = [], where } = query
  if (rows.length === 0 && where === undefined) {
    const sums = await sumStoredUsageByWindow(store, query, windows, parts)
    return sums.map((micros) => [micros])
  }
  const from = windows.map(({ fromSecond }) => storableMs(fromSecond * 1000))
  const to = windows.map(({ toSecond }) => storableMs(toSecond * 1000))
  const sums = windows.map(
    (_, index) =>
      `toString(toInt128(sumIf(value, at >= ${from[index]} AND at < ${to[index]}) * 1000000))`,
  )
  const filter = filterOf(where ?? {})
  const matrix = rowOf(rows)
  const found = await store.query<{ row: string; micros: string[] }>(
    `SELECT toString(row) AS row, [${sums.join(', ')}] AS micros FROM (
       SELECT value, toUnixTimestamp64Milli(timestamp) AS at, ${matrix.expression} AS row
       FROM ${query.environment}.usage_records FINAL
       PREWHERE ${inParts(parts)}
       WHERE provider_id = {providerId:String} AND customer_ref IN {customerRefs:Array(String)}
         AND meter_name = {meterName:String} AND product_ref IN ('', {productRef:String})
         AND outcome = 'success' AND ${filter.expression}
         AND timestamp >= fromUnixTimestamp64Milli({fromMs:Int64}, 'UTC')
         AND timestamp < fromUnixTimestamp64Milli({toMs:Int64}, 'UTC'))
     GROUP BY row`,
    {
      providerId: query.providerId,
      customerRefs: query.customerRefs,
      meterName: query.meterName,
      productRef: query.productRef,
      fromMs: Math.min(...from),
      toMs: Math.max(...to),
      ...filter.parameters,
      ...matrix.parameters,
    },
  )
  const byRow = new Map(found.map(({ row, micros }) => [Number(row), micros]))
  return windows.map((_, window) =>
    Array.from({ length: rows.length + 1 }, (_row, row) => BigInt(byRow.get(row)?.[window] ?? '0')),
  )
}

/** A part of a query with the parameters that it names. */
type QueryPart = {
  readonly expression: string
  readonly parameters: Readonly<Record<string, unknown>>
}

/** Returns the condition that every dimension has one of its values. */
export function filterOf(where: DimensionFilter): QueryPart {
  const entries = Object.entries(where)
  const conditions = entries.map(
    (_, at) => `dimensions[{where${at}:String}] IN {values${at}:Array(String)}`,
  )
  const parameters = entries.flatMap(([property, values], at) => [
    [`where${at}`, property],
    [`values${at}`, values],
  ])
  return {
    expression: ['1', ...conditions].join(' AND '),
    parameters: Object.fromEntries(parameters) as Record<string, unknown>,
  }
}

/** Returns the number of the first row whose values a record has, or the number of rows if there is none. */
function rowOf(rows: NonNullable<ChargedUsage['rows']>): QueryPart {
  if (rows.length === 0) return { expression: '0', parameters: {} }
  const entries = rows.map((when) => Object.entries(when))
  const conditions = entries.map((when, row) =>
    when.map((_, at) => `dimensions[{when${row}_${at}:String}] = {is${row}_${at}:String}`),
  )
  const branches = conditions.map((all, row) => `${['1', ...all].join(' AND ')}, ${row}`)
  const parameters = entries.flatMap((when, row) =>
    when.flatMap(([property, value], at) => [
      [`when${row}_${at}`, property],
      [`is${row}_${at}`, value],
    ]),
  )
  return {
    expression: `multiIf(${branches.join(', ')}, ${rows.length})`,
    parameters: Object.fromEntries(parameters) as Record<string, unknown>,
  }
}
