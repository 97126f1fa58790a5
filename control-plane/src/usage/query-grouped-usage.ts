import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import type { Granularity } from '@tollgate/schemas/http/meters'
import {
  amountOf,
  bucketStart,
  distinctRecords,
  parametersOf,
  sumOf,
  totals,
  zeroSum,
  type SumRow,
  type UsageQuery,
  type UsageSum,
} from './query-usage.ts'

/** How a query groups records. */
export type UsageGrouping = {
  readonly dimensions: readonly string[]
  /** Only this many groups, those with the largest values. The records of all others are one group. Undefined for all groups. */
  readonly top: number | undefined
  /** Also groups by time. */
  readonly granularity: Granularity | undefined
}

export type UsageGroup = UsageSum & {
  /** Values in the order of the dimensions. A record without a dimension has the empty text. */
  readonly values: readonly string[]
  /** The key is the start of the bucket in Unix milliseconds. Buckets without records are left out. */
  readonly buckets: ReadonlyMap<number, UsageSum>
}

type GroupedUsage = {
  readonly whole: UsageSum
  /** Ordered by values, or with `top` by usage, largest first. */
  readonly groups: readonly UsageGroup[]
  /** The records of the groups that `top` leaves out. Their aggregate is of the records, not of the groups. */
  readonly other: (Omit<UsageGroup, 'values'> & { readonly groups: number }) | undefined
}

type Row = SumRow & {
  readonly kind: 'whole' | 'group' | 'bucket'
  readonly group: readonly string[]
  readonly other: boolean
  readonly bucket: string
  readonly groups: string
}

/**
 * Returns the usage by groups, the whole, and with `granularity` the buckets of each group. One query returns all of them, so that
 * sums of groups and buckets add up to the whole even if records are stored meanwhile. Undefined if it has more than `rowsMax` rows.
 */
export async function queryGroupedUsage(
  store: Pick<UsageStore, 'query'>,
  query: UsageQuery,
  grouping: UsageGrouping,
  rowsMax: number,
): Promise<GroupedUsage | undefined> {
  const { top, granularity } = grouping
  const sets = [
    '()',
    '(other, group)',
    ...(granularity === undefined ? [] : ['(other, group, bucket)']),
  ]
  const isFine = granularity === undefined ? '0' : 'grouping(bucket) = 0'
  const { text, parameters } = groupedRecords(query, grouping)
  const rows = await store.query<Row>(
    `${text}
     SELECT multiIf(grouping(group) = 1, 'whole', ${isFine}, 'bucket', 'group') AS kind,
       group, other, ${granularity === undefined ? `''` : 'toString(toUnixTimestamp(bucket))'} AS bucket,
       ${totals[query.aggregation]} AS total, toString(count()) AS records,
       toString(uniqExact(group_values)) AS groups
     FROM grouped GROUP BY GROUPING SETS (${sets.join(', ')})
     ORDER BY kind = 'bucket', other, ${top === undefined ? '' : `${amountOf[query.aggregation]} DESC, `}group, bucket
     LIMIT ${rowsMax + 2}`,
    parameters,
  )
  return rows.length > rowsMax + 1 ? undefined : groupedUsage(rows, query.range.startMs)
}

function groupedUsage(rows: readonly Row[], rangeStartMs: number): GroupedUsage {
  let whole = zeroSum
  const named = new Map<string, UsageGroup & { readonly buckets: Map<number, UsageSum> }>()
  let other: { sum: UsageSum; groups: number; buckets: Map<number, UsageSum> } | undefined
  for (const row of rows) {
    const sum = sumOf(row)
    if (row.kind === 'whole') whole = sum
    else if (row.kind === 'bucket') {
      // A bucket that began before the range starts at the start of the range, like the bucket that it is matched with.
      const startMs = Math.max(Number(row.bucket) * 1_000, rangeStartMs)
      const group = row.other ? other : named.get(JSON.stringify(row.group))
      group?.buckets.set(startMs, sum)
    } else if (row.other) other = { sum, groups: Number(row.groups), buckets: new Map() }
    else named.set(JSON.stringify(row.group), { ...sum, values: row.group, buckets: new Map() })
  }
  return {
    whole,
    groups: [...named.values()],
    other: other && { ...other.sum, groups: other.groups, buckets: other.buckets },
  }
}

/** The value of a group in a file: exact, and of the same type for every aggregation. */
const fileValue = 'Decimal(38, 6)'

/**
 * Values that a spreadsheet would run as a formula, by their first character: those that OWASP lists, and their full-width forms.
 * Numbers with a sign are no formulas.
 */
const formula = '^(?:[=+@\\\\t\\\\r\\\\n-]|＝|＋|－|＠)'
const plainNumber = '^[+-]?(?:[0-9]+[.]?[0-9]*|[.][0-9]+)(?:[eE][+-]?[0-9]+)?$'

/** Returns an SQL expression with an apostrophe before values that a spreadsheet would run. */
export function harmlessInSpreadsheets(value: string): string {
  return `if(match(${value}, '${formula}') AND NOT match(${value}, '${plainNumber}'), concat('\\'', ${value}), ${value})`
}

/**
 * Returns a query with a row for each group and bucket that has records, for a file. Its columns are `start` with `granularity`, one
 * for each dimension, `other` with `top`, `value` and `count`. `isForSpreadsheets` marks values that look like formulas.
 */
export function fileStatement(
  query: UsageQuery,
  grouping: UsageGrouping,
  { isForSpreadsheets }: { readonly isForSpreadsheets: boolean },
): { readonly text: string; readonly parameters: Readonly<Record<string, unknown>> } {
  const { dimensions, top, granularity } = grouping
  const shown = (value: string): string =>
    isForSpreadsheets ? harmlessInSpreadsheets(value) : value
  const { text, parameters } = groupedRecords(query, grouping)
  const keys = [
    ...(granularity === undefined ? [] : ['bucket']),
    ...(dimensions.length === 0 ? [] : ['other', 'group']),
  ]
  const rangeStart = `fromUnixTimestamp64Milli({startMs:Int64}, 'UTC')`
  const columns = [
    ...(granularity === undefined
      ? []
      : [`greatest(toDateTime64(bucket, 3, 'UTC'), ${rangeStart}) AS start`]),
    ...dimensions.map(
      (name, at) => `${shown(`group[${at + 1}]`)} AS ${quotedName(`dimension_${name}`)}`,
    ),
    ...(top === undefined ? [] : ['other AS is_other']),
    `CAST(${amountOf[query.aggregation]} AS ${fileValue}) AS value`,
    'count() AS count',
  ]
  const grouped = keys.length === 0 ? '' : `GROUP BY ${keys.join(', ')} ORDER BY ${keys.join(', ')}`
  return { text: `${text} SELECT ${columns.join(', ')} FROM grouped ${grouped}`, parameters }
}

/** Returns the start of a query whose table `grouped` has a row for each record, with its group and bucket. */
function groupedRecords(query: UsageQuery, { dimensions, top, granularity }: UsageGrouping) {
  const names = Object.fromEntries(dimensions.map((name, at) => [`dimension${at}`, name]))
  const values = dimensions.map((_, at) => `any(dimensions[{dimension${at}:String}])`)
  const group = values.length === 0 ? 'emptyArrayString()' : `[${values.join(', ')}]`
  const isOther =
    top === undefined ? 'false' : 'toBool(group_values NOT IN (SELECT group_values FROM leading))'
  const leading =
    top === undefined
      ? ''
      : `, leading AS (SELECT group_values FROM records GROUP BY group_values
           ORDER BY ${amountOf[query.aggregation]} DESC, group_values LIMIT ${top})`
  return {
    text: `WITH records AS (${distinctRecords(query, group)})${leading},
      grouped AS (SELECT *, ${isOther} AS other, if(other, emptyArrayString(), group_values) AS group
        ${granularity === undefined ? '' : `, ${bucketStart[granularity]} AS bucket`} FROM records)`,
    parameters: { ...parametersOf(query), ...names },
  }
}

function quotedName(name: string): string {
  return `\`${name.replaceAll('\\', '\\\\').replaceAll('`', '\\`')}\``
}
