import { storableMs } from '@tollgate/domain/stored-usage/storable-time'
import type { Environment } from '@tollgate/schemas/environment'
import type { ExplorerGrouping } from '@tollgate/schemas/http/usage-explorer'
import type { Granularity } from '@tollgate/schemas/http/meters'
import type { TimeRange } from '../domain/usage-buckets.ts'
import { harmlessInSpreadsheets } from './query-grouped-usage.ts'
import type { Condition } from './usage-filter.ts'

export type ExplorerQuery = {
  readonly environment: Environment
  readonly providerId: string
  readonly meterNames: readonly string[]
  /** Whole hours. */
  readonly range: TimeRange
  /** The range of the same length before, with a comparison. */
  readonly previous: TimeRange | undefined
  /** Exact name, as ClickHouse knows it. */
  readonly timeZone: string
  readonly granularity: Granularity | undefined
  readonly groupBy: ExplorerGrouping | undefined
  /** Only with `groupBy` dimension. */
  readonly dimension: string | undefined
  readonly top: number
  readonly customerRefs: readonly string[] | undefined
  readonly productRef: string | undefined
  readonly purchaseRef: string | undefined
  readonly outcome: 'success' | 'paywall' | 'fail' | 'all'
  readonly filter: Condition | undefined
}

/** Usage of a meter in one bucket, of one group or of all other groups. */
export type ExploredRow = {
  readonly meter: string
  readonly isPrevious: boolean
  /** Start of the bucket in Unix seconds; 0 without a granularity. */
  readonly second: string
  readonly isOther: boolean
  readonly groupKey: string
  readonly total: string
  readonly records: string
}

type Statement = {
  readonly text: string
  readonly parameters: Readonly<Record<string, unknown>>
}

/** A table with the expressions of its time and sums. */
export type Source = {
  readonly table: string
  /** The column with the time of a row. */
  readonly time: string
  /** Start of the hour (UTC) of a row. Hours belong to the bucket in which they begin. */
  readonly hour: string
  readonly value: string
  readonly records: string
  readonly dimension: string
  readonly conditions: readonly string[]
}

const rolledUp = { time: 'hour', hour: 'hour', value: 'value', records: 'records' }

/** Hourly sums of all customers together. */
export const allCustomers: Source = {
  ...rolledUp,
  ...{ table: 'usage_by_meter', dimension: `''`, conditions: [] },
}

/** Hourly sums of each customer and purchase. */
export const eachCustomer: Source = { ...allCustomers, table: 'usage_by_purchase' }

/**
 * Returns the smallest table that can answer the query. Filters by dimension, and a dimension of one customer or purchase, need the
 * records. All other queries read a roll-up. Records are read with FINAL, so that a record that was stored twice counts once.
 */
function sourceOf(query: ExplorerQuery): Source {
  const { groupBy, customerRefs, purchaseRef, filter } = query
  if (groupBy !== 'dimension' && filter === undefined) {
    const isOfAll =
      groupBy !== 'customer' &&
      groupBy !== 'purchase' &&
      customerRefs === undefined &&
      purchaseRef === undefined
    return isOfAll ? allCustomers : eachCustomer
  }
  if (filter === undefined && customerRefs === undefined && purchaseRef === undefined) {
    return {
      ...rolledUp,
      table: 'usage_by_dimension',
      dimension: 'dimension_value',
      conditions: ['dimension = {dimension:String}'],
    }
  }
  return {
    table: 'usage_records FINAL',
    time: 'timestamp',
    hour: `toDateTime(toStartOfHour(timestamp), 'UTC')`,
    value: 'value',
    records: '1',
    dimension: 'dimensions[{dimension:String}]',
    // The roll-up does not contain records without the dimension either.
    conditions: groupBy === 'dimension' ? ['mapContains(dimensions, {dimension:String})'] : [],
  }
}

export const keyColumns: Readonly<Record<Exclude<ExplorerGrouping, 'dimension'>, string>> = {
  customer: 'customer_ref',
  product: 'product_ref',
  purchase: 'purchase_ref',
  outcome: 'toString(outcome)',
}

/** Returns the column of the groups' keys in the result, or undefined without a grouping. */
export function keyNameOf(groupBy: ExplorerGrouping | undefined): string | undefined {
  return groupBy === 'dimension' ? 'dimension_value' : groupBy
}

export const bucketStarts: Readonly<Record<Granularity, (time: string) => string>> = {
  hour: (time) => `toStartOfInterval(${time}, INTERVAL 1 HOUR, 'UTC')`,
  day: (time) => `toStartOfDay(${time}, {timeZone:String})`,
  week: (time) => `toDateTime(toMonday(${time}, {timeZone:String}), {timeZone:String})`,
  month: (time) => `toDateTime(toStartOfMonth(${time}, {timeZone:String}), {timeZone:String})`,
}

/**
 * Returns a statement with a row for each meter, group and bucket with usage. Its columns are `meter_name`, `value` and `count`, with a
 * comparison `is_previous`, with a granularity `start`, and with a grouping `is_other` and the key.
 */
export function explorerStatement(
  query: ExplorerQuery,
  { isForSpreadsheets = false }: { readonly isForSpreadsheets?: boolean } = {},
): Statement {
  const { granularity, groupBy, previous, top, environment } = query
  const source = sourceOf(query)
  const keyName = keyNameOf(groupBy)
  const columns = [
    'meter_name',
    ...(previous === undefined ? [] : [`${source.time} < ${instant('startMs')} AS is_previous`]),
    ...(granularity === undefined ? [] : [`${bucketStarts[granularity](source.hour)} AS start`]),
    ...(groupBy === undefined
      ? []
      : [`${groupBy === 'dimension' ? source.dimension : keyColumns[groupBy]} AS key`]),
    `${source.value} AS amount`,
    `${source.records} AS uses`,
  ]
  const keys = [
    'meter_name',
    ...(previous === undefined ? [] : ['is_previous']),
    ...(granularity === undefined ? [] : ['start']),
    ...(groupBy === undefined ? [] : ['is_other', 'shown_key']),
  ]
  const shownKey = isForSpreadsheets ? harmlessInSpreadsheets('shown_key') : 'shown_key'
  const shown = keys.map((key) => (key === 'shown_key' ? `${shownKey} AS ${keyName}` : key))
  const leading =
    groupBy === undefined
      ? ''
      : `,
leading AS (
    SELECT meter_name, key FROM used${previous === undefined ? '' : ' WHERE NOT is_previous'}
    GROUP BY meter_name, key
    ORDER BY meter_name, sum(amount) DESC, key LIMIT ${top} BY meter_name
)`
  const from =
    groupBy === undefined
      ? 'used'
      : `(
    SELECT *, (meter_name, key) NOT IN (SELECT meter_name, key FROM leading) AS is_other,
        if(is_other, '', key) AS shown_key
    FROM used
)`
  return {
    text: `WITH used AS (
    SELECT ${columns.join(', ')}
    FROM ${environment}.${source.table}
    WHERE ${conditionsOf(query, source).join('\n      AND ')}${query.filter?.text ?? ''}
)${leading}
SELECT ${shown.join(', ')}, sum(amount) AS value, toInt64(sum(uses)) AS count
FROM ${from}
GROUP BY ${keys.join(', ')}
ORDER BY ${keys.join(', ')}`,
    parameters: parametersOf(query),
  }
}

export function instant(name: string): string {
  return `fromUnixTimestamp64Milli({${name}:Int64}, 'UTC')`
}

export function conditionsOf(query: ExplorerQuery, { time, conditions }: Source): string[] {
  return [
    'provider_id = {providerId:String}',
    'meter_name IN {meterNames:Array(String)}',
    `${time} >= ${instant('firstMs')} AND ${time} < ${instant('endMs')}`,
    ...conditions,
    ...(query.outcome === 'all' ? [] : ['outcome = {outcome:String}']),
    ...(query.productRef === undefined ? [] : ['product_ref = {productRef:String}']),
    ...(query.purchaseRef === undefined ? [] : ['purchase_ref = {purchaseRef:String}']),
    ...(query.customerRefs === undefined ? [] : ['customer_ref IN {customerRefs:Array(String)}']),
  ]
}

export function parametersOf(query: ExplorerQuery): Record<string, unknown> {
  const { range, previous, timeZone, granularity, dimension, outcome } = query
  const { productRef, purchaseRef, customerRefs, filter } = query
  return {
    providerId: query.providerId,
    meterNames: query.meterNames,
    firstMs: storableMs((previous ?? range).startMs),
    ...(previous === undefined ? {} : { startMs: storableMs(range.startMs) }),
    endMs: storableMs(range.endMs),
    ...(granularity === undefined || granularity === 'hour' ? {} : { timeZone }),
    ...(dimension === undefined ? {} : { dimension }),
    ...(outcome === 'all' ? {} : { outcome }),
    ...(productRef === undefined ? {} : { productRef }),
    ...(purchaseRef === undefined ? {} : { purchaseRef }),
    ...(customerRefs === undefined ? {} : { customerRefs }),
    ...filter?.parameters,
  }
}

/** Returns the statement with its parameters as literals, so that a data team can run it. */
export function statementAsText({ text, parameters }: Statement): string {
  return text.replaceAll(/\{(\w+):[^}]+\}/g, (_, name: string) => literal(parameters[name]))
}

function literal(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`
  if (typeof value === 'number') return String(value)
  return `'${String(value).replaceAll('\\', '\\\\').replaceAll(`'`, `\\'`)}'`
}
