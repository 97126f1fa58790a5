import { correctionSource } from '@tollgate/schemas/correction-records'
import type { ClickHouseMigration } from '@tollgate/platform/usage-store/clickhouse/migrations'
import { onCluster } from '@tollgate/platform/usage-store/clickhouse/migrated-place'
import { createRollUp, hourOfRecord, type RollUp } from '../roll-up.ts'
import { shardedByCustomer, tablesToAlter } from '../usage-table.ts'
import { usageRecordsTable } from './0001-usage-records.ts'

/**
 * Hourly sums of all records, also of those that do not count, for the console: by customer, product, purchase and outcome. `events`
 * counts each record once, however many meters count it, and no corrections.
 */
export const usageByPurchase: RollUp = {
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
        debit Decimal(38, 6)
    `,
    engine: 'SummingMergeTree',
    layout: `PARTITION BY toYYYYMM(hour)
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
    hour: hourOfRecord,
  },
  amounts: {
    value: 'toDecimal128(value, 6)',
    records: 'toInt64(1)',
    events: `toInt64(is_further = 0 AND source != '${correctionSource}')`,
    debit: 'debit',
  },
  join: '',
  condition: '1',
  comparedBy: 'customer_ref',
}

/**
 * Hourly sums of all records by each dimension of their meters. It has no customers, so its size depends on the number of values and
 * not of customers. The log partition is part of the key, because only one sink writes the records of a partition.
 */
export const usageByDimension: RollUp = {
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
        records Int64
    `,
    engine: 'SummingMergeTree',
    layout: `PARTITION BY toYYYYMM(hour)
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
    hour: hourOfRecord,
    log_partition: 'log_partition',
  },
  amounts: { value: 'toDecimal128(value, 6)', records: 'toInt64(1)' },
  join: 'ARRAY JOIN mapKeys(dimensions) AS one_dimension',
  condition: '1',
  comparedBy: 'log_partition',
}

export const consoleRollUps: ClickHouseMigration = {
  name: '0010-console-roll-ups',
  statements: (place) => [
    ...tablesToAlter(usageRecordsTable, place).map(
      (table) =>
        `ALTER TABLE ${table}${onCluster(place)}
    ADD COLUMN IF NOT EXISTS is_further UInt8 AFTER value_text`,
    ),
    ...createRollUp(usageByPurchase, place),
    ...createRollUp(usageByDimension, place),
  ],
}
