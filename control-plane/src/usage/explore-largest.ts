import { decimalOfMicros, microsOfDecimal } from '@tollgate/domain/money/decimal'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import { dayMs } from '../domain/usage-buckets.ts'
import {
  allCustomers,
  bucketStarts,
  conditionsOf,
  eachCustomer,
  instant,
  keyColumns,
  parametersOf,
  type ExploredRow,
  type ExplorerQuery,
  type Source,
} from './explorer-statement.ts'

type Store = Pick<UsageStore, 'query'>

/** Groups of each meter whose exact usage is read to find those with the most. */
const candidatesMax = 100

/**
 * Returns the rows of a query for the customers or purchases with the most usage, without reading the hours of all others. Returns
 * undefined if another query is asked, or if the largest groups cannot be told from few candidates.
 *
 *  1. `usage_by_day` has an upper bound of each group's usage: whole days count exactly, and days that the range cuts with their usage
 *     without corrections.
 *  2. The hours of the candidates, which have the largest bounds, give their exact usage. If the largest of them exceed the bounds of
 *     all other groups, they are the largest of all.
 *  3. The hours of these groups are read by bucket. What is left of all usage is that of all other groups.
 */
export async function exploreLargest(
  store: Store,
  query: ExplorerQuery,
): Promise<ExploredRow[] | undefined> {
  const { groupBy, customerRefs, purchaseRef, filter } = query
  if (groupBy !== 'customer' && groupBy !== 'purchase') return undefined
  if (customerRefs !== undefined || purchaseRef !== undefined || filter !== undefined) {
    return undefined
  }
  const leading = await findLeading(store, query, keyColumns[groupBy])
  if (leading === undefined) return undefined
  const [groups, whole] = await Promise.all([
    readGroups(store, query, keyColumns[groupBy], leading),
    readBuckets(store, query, allCustomers, { key: `''`, condition: '1', parameters: {} }),
  ])
  return [...groups, ...restOf(whole, groups)]
}

type Keys = ReadonlyMap<string, readonly string[]>

/** Returns the keys of the largest groups by meter. */
async function findLeading(
  store: Store,
  query: ExplorerQuery,
  keyColumn: string,
): Promise<Keys | undefined> {
  const bounds = await listBounds(store, query, keyColumn)
  const candidates = new Map<string, string[]>()
  const excluded = new Map<string, bigint>()
  for (const { meter, groupKey, bound } of bounds) {
    const keys = candidates.get(meter) ?? []
    candidates.set(meter, keys)
    if (keys.length < candidatesMax) keys.push(groupKey)
    else excluded.set(meter, microsOfDecimal(bound))
  }
  const totals = await listTotals(store, query, keyColumn, candidates)
  const leading = new Map<string, string[]>()
  for (const meter of candidates.keys()) {
    const largest = totals.filter((row) => row.meter === meter).slice(0, query.top)
    const boundOfOthers = excluded.get(meter)
    if (boundOfOthers !== undefined) {
      const least = largest[query.top - 1]
      if (least === undefined || microsOfDecimal(least.total) <= boundOfOthers) return undefined
    }
    leading.set(
      meter,
      largest.map(({ groupKey }) => groupKey),
    )
  }
  return leading
}

/** Returns the candidates of each meter and the largest bound of all other groups, in descending order of bounds. */
function listBounds(store: Store, query: ExplorerQuery, keyColumn: string) {
  const { startMs, endMs } = query.range
  return store.query<{ meter: string; groupKey: string; bound: string }>(
    `SELECT meter_name AS meter, ${keyColumn} AS groupKey,
       toString(sum(if(day >= ${instant('wholeFromMs')} AND day < ${instant('wholeToMs')}, value, positive_value)) AS upper) AS bound
     FROM ${query.environment}.usage_by_day
     WHERE ${conditionsOf(query, { ...eachCustomer, time: 'day' }).join(' AND ')}
     GROUP BY meter_name, ${keyColumn}
     ORDER BY meter_name, upper DESC, ${keyColumn} LIMIT ${candidatesMax + 1} BY meter_name`,
    {
      ...parametersOf({ ...query, previous: undefined }),
      firstMs: Math.floor(startMs / dayMs) * dayMs,
      wholeFromMs: Math.ceil(startMs / dayMs) * dayMs,
      wholeToMs: Math.floor(endMs / dayMs) * dayMs,
    },
  )
}

/** Returns the exact usage of candidates in the range, the largest first. */
async function listTotals(store: Store, query: ExplorerQuery, keyColumn: string, candidates: Keys) {
  const current = { ...query, previous: undefined }
  const { condition, parameters } = ofGroups(current, keyColumn, candidates)
  return store.query<{ meter: string; groupKey: string; total: string }>(
    `SELECT meter_name AS meter, ${keyColumn} AS groupKey, toString(sum(value)) AS total
     FROM ${query.environment}.usage_by_purchase
     WHERE ${conditionsOf(current, eachCustomer).join(' AND ')} AND ${condition}
     GROUP BY meter_name, ${keyColumn}
     HAVING sum(records) > 0
     ORDER BY meter_name, sum(value) DESC, ${keyColumn}`,
    { ...parametersOf(current), ...parameters },
  )
}

type Chosen = {
  readonly condition: string
  readonly parameters: Readonly<Record<string, unknown>>
}

/**
 * Returns the condition for the rows of groups. Rows are sorted by customer, so those of purchases are found by the customers that have
 * the purchases.
 */
function ofGroups(query: ExplorerQuery, keyColumn: string, keys: Keys): Chosen {
  const pairs = [...keys].flatMap(([meter, of]) => of.map((key) => [meter, key] as const))
  const all = [...new Set(pairs.map(([, key]) => key))]
  const days = conditionsOf(query, { ...eachCustomer, time: 'day' })
  const customers =
    keyColumn === 'customer_ref'
      ? 'customer_ref IN {groupKeys:Array(String)}'
      : `customer_ref IN (
          SELECT customer_ref FROM ${query.environment}.usage_by_day
          WHERE ${days.join(' AND ').replace(instant('firstMs'), instant('firstDayMs'))}
            AND ${keyColumn} IN {groupKeys:Array(String)}
        )`
  const firstMs = (query.previous ?? query.range).startMs
  return {
    condition: `${customers} AND (meter_name, ${keyColumn}) IN (
        SELECT pair.1, pair.2 FROM (SELECT arrayJoin(arrayZip({pairMeters:Array(String)}, {pairKeys:Array(String)})) AS pair)
      )`,
    parameters: {
      groupKeys: all,
      pairMeters: pairs.map(([meter]) => meter),
      pairKeys: pairs.map(([, key]) => key),
      firstDayMs: Math.floor(firstMs / dayMs) * dayMs,
    },
  }
}

function readGroups(
  store: Store,
  query: ExplorerQuery,
  keyColumn: string,
  leading: Keys,
): Promise<ExploredRow[]> {
  return readBuckets(store, query, eachCustomer, {
    key: keyColumn,
    ...ofGroups(query, keyColumn, leading),
  })
}

/** Returns the usage by meter, bucket and key, in the range and in the one before it. */
function readBuckets(
  store: Store,
  query: ExplorerQuery,
  source: Source,
  { key, condition, parameters }: Chosen & { readonly key: string },
): Promise<ExploredRow[]> {
  const { granularity, previous } = query
  const second =
    granularity === undefined
      ? `'0'`
      : `toString(toUnixTimestamp(${bucketStarts[granularity](source.hour)}))`
  const isPrevious = previous === undefined ? 'false' : `toBool(hour < ${instant('startMs')})`
  return store.query<ExploredRow>(
    `SELECT meter_name AS meter, ${isPrevious} AS isPrevious, ${second} AS second, false AS isOther,
       ${key} AS groupKey, toString(sum(value)) AS total, toString(sum(${source.records})) AS records
     FROM ${query.environment}.${source.table}
     WHERE ${conditionsOf(query, source).join(' AND ')} AND ${condition}
     GROUP BY meter, isPrevious, second, groupKey`,
    { ...parametersOf(query), ...parameters },
  )
}

/** Returns what is left of the usage of all groups, without buckets in which nothing is left. */
function restOf(whole: readonly ExploredRow[], groups: readonly ExploredRow[]): ExploredRow[] {
  const taken = new Map<string, { micros: bigint; records: number }>()
  for (const row of groups) {
    const { micros, records } = taken.get(bucketOf(row)) ?? { micros: 0n, records: 0 }
    taken.set(bucketOf(row), {
      micros: micros + microsOfDecimal(row.total),
      records: records + Number(row.records),
    })
  }
  return whole.flatMap((row) => {
    const { micros, records } = taken.get(bucketOf(row)) ?? { micros: 0n, records: 0 }
    const left = Number(row.records) - records
    if (left <= 0) return []
    const total = decimalOfMicros(microsOfDecimal(row.total) - micros)
    return [{ ...row, isOther: true, groupKey: '', total, records: String(left) }]
  })
}

function bucketOf({ meter, isPrevious, second }: ExploredRow): string {
  return JSON.stringify([meter, isPrevious, second])
}
