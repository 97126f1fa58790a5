import { randomBytes } from 'node:crypto'
import type {
  ClickHouseMigration,
  MigrationWork,
} from '@tollgate/platform/usage-store/clickhouse/migrations'
import {
  onCluster,
  type MigratedPlace,
} from '@tollgate/platform/usage-store/clickhouse/migrated-place'
import { claimFill } from '../fill/fill-claim.ts'
import { notesTable } from '../fill/fill-notes.ts'
import type { FilledTable } from '../fill/filled-table.ts'
import {
  createSyncedTable,
  shardedByCustomer,
  storedName,
  type UsageTable,
} from '../usage-table.ts'

/*
 * Every roll-up has two partitions per month: rows that the view writes, and rows that migration 0013 computes from the records that
 * were stored before the view existed (`is_filled`). ClickHouse replaces a partition in one step, so a fill that is repeated changes
 * nothing and never touches what the view wrote.
 */

const hour = `toDateTime(toStartOfHour(timestamp), 'UTC')`
const day = `toDateTime(toStartOfDay(timestamp), 'UTC')`
const value = 'toDecimal128(record.value, 6)'
const events = `toInt64(is_further = 0 AND source != 'usage-corrections')`

/** Hourly sums by customer, product, purchase and outcome. It serves queries of few customers. */
export const usageByPurchase: FilledTable = {
  table: {
    name: 'usage_by_purchase',
    columns: `
        provider_id String,
        meter_name LowCardinality(String),
        customer_ref String,
        product_ref String,
        purchase_ref String,
        outcome LowCardinality(String),
        hour DateTime('UTC'),
        value Decimal(38, 6),
        records Int64,
        events Int64,
        debit Decimal(38, 6),
        is_filled UInt8
    `,
    engine: 'SummingMergeTree',
    layout: `PARTITION BY (toYYYYMM(hour), is_filled)
    ORDER BY (provider_id, meter_name, customer_ref, product_ref, purchase_ref, outcome, hour)`,
    shardedBy: shardedByCustomer,
    deduplicationWindow: 10_000,
  },
  keys: {
    provider_id: 'provider_id',
    meter_name: 'meter_name',
    customer_ref: 'customer_ref',
    product_ref: 'product_ref',
    purchase_ref: 'purchase_ref',
    outcome: 'outcome',
    hour,
  },
  sums: { value, records: 'toInt64(1)', events, debit: 'debit' },
  states: {},
  join: '',
  condition: '1',
}

/** Hourly sums by each dimension of the meters. It has no customers, so its size depends on the number of values. */
export const usageByDimension: FilledTable = {
  table: {
    name: 'usage_by_dimension',
    columns: `
        provider_id String,
        meter_name LowCardinality(String),
        dimension LowCardinality(String),
        dimension_value String,
        product_ref String,
        outcome LowCardinality(String),
        hour DateTime('UTC'),
        log_partition UInt32,
        value Decimal(38, 6),
        records Int64,
        is_filled UInt8
    `,
    engine: 'SummingMergeTree',
    layout: `PARTITION BY (toYYYYMM(hour), is_filled)
    ORDER BY (provider_id, meter_name, dimension, dimension_value, product_ref, outcome, hour, log_partition)`,
    shardedBy: 'log_partition',
    deduplicationWindow: 10_000,
  },
  keys: {
    provider_id: 'provider_id',
    meter_name: 'meter_name',
    dimension: 'one_dimension',
    dimension_value: 'dimensions[one_dimension]',
    product_ref: 'product_ref',
    outcome: 'outcome',
    hour,
    log_partition: 'log_partition',
  },
  sums: { value, records: 'toInt64(1)' },
  states: {},
  join: 'ARRAY JOIN mapKeys(dimensions) AS one_dimension',
  condition: '1',
}

/** Hourly sums of all customers together. Its size does not depend on the number of customers or records. */
export const usageByMeter: FilledTable = {
  table: {
    name: 'usage_by_meter',
    columns: `
        provider_id String,
        meter_name LowCardinality(String),
        product_ref String,
        outcome LowCardinality(String),
        hour DateTime('UTC'),
        log_partition UInt32,
        value Decimal(38, 6),
        records Int64,
        events Int64,
        debit Decimal(38, 6),
        is_filled UInt8
    `,
    engine: 'SummingMergeTree',
    layout: `PARTITION BY (toYYYYMM(hour), is_filled)
    ORDER BY (provider_id, meter_name, hour, product_ref, outcome, log_partition)`,
    shardedBy: 'log_partition',
    deduplicationWindow: 10_000,
  },
  keys: {
    provider_id: 'provider_id',
    meter_name: 'meter_name',
    product_ref: 'product_ref',
    outcome: 'outcome',
    hour,
    log_partition: 'log_partition',
  },
  sums: { value, records: 'toInt64(1)', events, debit: 'debit' },
  states: {},
  join: '',
  condition: '1',
}

/**
 * Daily sums (UTC) by customer, sorted by day, for the customers and purchases with the most usage. `positive_value` has no
 * corrections, so it bounds the usage of any part of the day. `dimension_records` and `dimension_value` count a record once for each of
 * its dimensions: they are what the rows of `usage_by_dimension` add up to.
 */
export const usageByDay: FilledTable = {
  table: {
    name: 'usage_by_day',
    columns: `
        provider_id String,
        meter_name LowCardinality(String),
        day DateTime('UTC'),
        customer_ref String,
        product_ref String,
        purchase_ref String,
        outcome LowCardinality(String),
        log_partition UInt32,
        value Decimal(38, 6),
        positive_value Decimal(38, 6),
        records Int64,
        events Int64,
        debit Decimal(38, 6),
        dimension_records Int64,
        dimension_value Decimal(38, 6),
        is_filled UInt8
    `,
    engine: 'SummingMergeTree',
    layout: `PARTITION BY (toYYYYMM(day), is_filled)
    ORDER BY (provider_id, meter_name, day, customer_ref, product_ref, purchase_ref, outcome, log_partition)`,
    shardedBy: shardedByCustomer,
    deduplicationWindow: 10_000,
  },
  keys: {
    provider_id: 'provider_id',
    meter_name: 'meter_name',
    day,
    customer_ref: 'customer_ref',
    product_ref: 'product_ref',
    purchase_ref: 'purchase_ref',
    outcome: 'outcome',
    log_partition: 'log_partition',
  },
  sums: {
    value,
    positive_value: `if(record.value > 0, ${value}, toDecimal128(0, 6))`,
    records: 'toInt64(1)',
    events,
    debit: 'debit',
    dimension_records: 'toInt64(length(dimensions))',
    dimension_value: `${value} * toInt64(length(dimensions))`,
  },
  states: {},
  join: '',
  condition: '1',
}

/** Sketches of the customers with counted usage in each hour. Merged sketches count customers of any range of hours. */
export const activeCustomers: FilledTable = {
  table: {
    name: 'active_customers',
    columns: `
        provider_id String,
        hour DateTime('UTC'),
        customers AggregateFunction(uniqCombined64(15), String),
        is_filled UInt8
    `,
    engine: 'AggregatingMergeTree',
    layout: `PARTITION BY (toYYYYMM(hour), is_filled)
    ORDER BY (provider_id, hour)`,
    shardedBy: 'cityHash64(provider_id)',
    deduplicationWindow: 10_000,
  },
  keys: { provider_id: 'provider_id', hour },
  sums: {},
  states: { customers: 'uniqCombined64State(15)(customer_ref)' },
  join: '',
  condition: `outcome = 'success'`,
}

export const filledTables: readonly FilledTable[] = [
  usageByPurchase,
  usageByDimension,
  usageByMeter,
  usageByDay,
  activeCustomers,
]

/**
 * Creates the roll-ups. In installations of the development before 0.1.0, the first two may have an earlier shape without partitions for
 * the fill, and views of their own: these are dropped and created again.
 */
export const rollUpTables: ClickHouseMigration = {
  name: '0012-roll-up-tables',
  statements: (place) => [
    notesTable(place),
    ...filledTables.flatMap(({ table }) => createSyncedTable(table, place)),
  ],
  work: (work) => replaceEarlierShape(work, [usageByPurchase.table, usageByDimension.table]),
}

/**
 * Drops tables of the earlier shape and creates them again. One process at a time does so, and it first checks which tables still have
 * the earlier shape, so that it drops no table that another process has created. A crash in between leaves tables that are missing or
 * still have the earlier shape.
 */
async function replaceEarlierShape(
  work: MigrationWork,
  tables: readonly UsageTable[],
): Promise<void> {
  if ((await listEarlierShaped(work, tables)).length === 0) return
  const { store, place, signal } = work
  const claim = await claimFill(store, place, randomBytes(8).toString('hex'), signal)
  try {
    for (const table of await listEarlierShaped(work, tables)) {
      claim.requireHeld()
      for (const statement of dropRollUp(table.name, place)) await store.command(statement)
      for (const statement of createSyncedTable(table, place)) await store.command(statement)
    }
  } finally {
    await claim.release().catch(() => undefined)
  }
}

/** Returns the tables that have the earlier shape, or that a process was about to create again. */
async function listEarlierShaped(
  { store, place }: MigrationWork,
  tables: readonly UsageTable[],
): Promise<UsageTable[]> {
  const shaped = await store.query<{ name: string }>(
    `SELECT name FROM system.tables WHERE database = {database:String} AND position(partition_key, 'is_filled') > 0`,
    { database: place.database },
  )
  const names = new Set(shaped.map(({ name }) => `${place.database}.${name}`))
  return tables.filter((table) => !names.has(storedName(table, place)))
}

/** The table with the rows is dropped last, because its shape tells a repetition what is left to do. */
function dropRollUp(name: string, place: MigratedPlace): string[] {
  const { database, cluster } = place
  const tables = cluster === undefined ? [name] : [name, `${name}_local`]
  return [`${name}_view`, ...tables].map(
    (table) => `DROP TABLE IF EXISTS ${database}.${table}${onCluster(place)} SYNC`,
  )
}
