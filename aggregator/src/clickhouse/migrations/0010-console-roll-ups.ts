import type { ClickHouseMigration } from '@tollgate/platform/usage-store/clickhouse/migrations'
import { onCluster } from '@tollgate/platform/usage-store/clickhouse/migrated-place'
import {
  createUsageTable,
  shardedByCustomer,
  storedName,
  syncInserts,
  tablesToAlter,
  type UsageTable,
} from '../usage-table.ts'
import { usageRecordsTable } from './0001-usage-records.ts'

const usageByPurchase: UsageTable = {
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
}

const usageByDimension: UsageTable = {
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
}

/**
 * The first shape of the console's roll-ups, which existing records did not need to fill safely. Migration 0012 replaces the tables,
 * and 0013 fills them.
 */
export const consoleRollUps: ClickHouseMigration = {
  name: '0010-console-roll-ups',
  statements: (place) => [
    ...tablesToAlter(usageRecordsTable, place).map(
      (table) =>
        `ALTER TABLE ${table}${onCluster(place)}
    ADD COLUMN IF NOT EXISTS is_further UInt8 AFTER value_text`,
    ),
    ...[usageByPurchase, usageByDimension].flatMap((table) => [
      ...createUsageTable(table, place),
      syncInserts(table, place),
    ]),
    `CREATE MATERIALIZED VIEW IF NOT EXISTS ${place.database}.usage_by_purchase_view${onCluster(place)}
    TO ${storedName(usageByPurchase, place)} AS
    SELECT provider_id, meter_name, customer_ref, product_ref, purchase_ref, outcome,
      toDateTime(toStartOfHour(timestamp), 'UTC') AS hour, sum(toDecimal128(value, 6)) AS value,
      sum(toInt64(1)) AS records, sum(toInt64(is_further = 0 AND source != 'usage-corrections')) AS events, sum(debit) AS debit
    FROM ${storedName(usageRecordsTable, place)}
    GROUP BY provider_id, meter_name, customer_ref, product_ref, purchase_ref, outcome, hour`,
    `CREATE MATERIALIZED VIEW IF NOT EXISTS ${place.database}.usage_by_dimension_view${onCluster(place)}
    TO ${storedName(usageByDimension, place)} AS
    SELECT provider_id, meter_name, one_dimension AS dimension, dimensions[one_dimension] AS dimension_value,
      product_ref, outcome, toDateTime(toStartOfHour(timestamp), 'UTC') AS hour, log_partition,
      sum(toDecimal128(value, 6)) AS value, sum(toInt64(1)) AS records
    FROM ${storedName(usageRecordsTable, place)} ARRAY JOIN mapKeys(dimensions) AS one_dimension
    GROUP BY provider_id, meter_name, dimension, dimension_value, product_ref, outcome, hour, log_partition`,
  ],
}
