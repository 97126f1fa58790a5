import type { ClickHouseMigration } from '@tollgate/platform/usage-store/clickhouse/migrations'
import {
  onCluster,
  type MigratedPlace,
} from '@tollgate/platform/usage-store/clickhouse/migrated-place'

type CommentedColumn = readonly [name: string, type: string, comment: string]

type CommentedView = {
  readonly name: string
  readonly columns: readonly CommentedColumn[]
  /** Columns of the table that are summed. All others are keys. */
  readonly sums: readonly string[]
  readonly from: string
}

const shared: readonly CommentedColumn[] = [
  ['provider_id', 'String', 'Provider whose API was used'],
  ['day', 'Date', 'Day of use (UTC)'],
  [
    'meter_name',
    'LowCardinality(String)',
    'Meter, for example requests. Empty if no meter counts the event',
  ],
]
const product: CommentedColumn = ['product_ref', 'String', 'Product, or empty']
const outcome: CommentedColumn = [
  'outcome',
  'LowCardinality(String)',
  'success, paywall (refused because no plan allows it) or fail. Only success is counted and billed',
]
const value: CommentedColumn = ['value', 'Decimal(38, 6)', 'Sum of the values']
const records: CommentedColumn = [
  'records',
  'Int64',
  'Number of records on the meter, with corrections',
]

const dailyUsage: CommentedView = {
  name: 'daily_usage',
  columns: [
    ...shared,
    ['customer_ref', 'String', "Customer, as the client sent it: cus_… or the provider's own id"],
    product,
    ['purchase_ref', 'String', 'Purchase, or empty'],
    outcome,
    value,
    records,
    [
      'events',
      'Int64',
      'Number of events: one for a record on several meters, none for corrections',
    ],
    ['debit', 'Decimal(38, 6)', 'Credits that wallets paid'],
  ],
  sums: ['value', 'records', 'events', 'debit'],
  from: 'usage_by_purchase',
}

const dailyUsageByDimension: CommentedView = {
  name: 'daily_usage_by_dimension',
  columns: [
    ...shared,
    [
      'dimension',
      'LowCardinality(String)',
      'Name of the dimension. Never add up different dimensions',
    ],
    ['dimension_value', 'String', 'Value of the dimension'],
    product,
    outcome,
    value,
    records,
  ],
  sums: ['value', 'records'],
  from: 'usage_by_dimension',
}

/** Views for data teams, with a comment on every column. A condition on a key is applied to the roll-up before its rows are summed. */
export const dailyUsageViews: ClickHouseMigration = {
  name: '0011-daily-usage',
  statements: (place) => [dailyUsage, dailyUsageByDimension].map((view) => createView(view, place)),
}

function createView({ name, columns, sums, from }: CommentedView, place: MigratedPlace): string {
  const defined = columns.map(
    ([column, type, comment]) => `${column} ${type} COMMENT '${comment.replaceAll(`'`, `\\'`)}'`,
  )
  const keys = columns.map(([column]) => column).filter((column) => !sums.includes(column))
  const selected = columns.map(([column]) => {
    if (column === 'day') return `toDate(hour, 'UTC') AS day`
    return sums.includes(column) ? `sum(${from}.${column}) AS ${column}` : column
  })
  return `CREATE VIEW IF NOT EXISTS ${place.database}.${name}${onCluster(place)}
    (${defined.join(', ')})
    AS SELECT ${selected.join(', ')}
    FROM ${place.database}.${from}
    GROUP BY ${keys.join(', ')}`
}
