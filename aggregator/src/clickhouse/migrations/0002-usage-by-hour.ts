import type { ClickHouseMigration } from '@tollgate/platform/usage-store/clickhouse/migrations'
import { onCluster } from '@tollgate/platform/usage-store/clickhouse/migrated-place'
import { createUsageTable, shardedByCustomer, storedName, type UsageTable } from '../usage-table.ts'
import { usageRecordsTable } from './0001-usage-records.ts'

/**
 * Hourly roll-up of counted usage, filled by the view below. After a crash between the table and its view, a repeated insert fills
 * the view without counting twice, because this table has a deduplication window too. On a cluster, the view of a server fills the
 * roll-up of the same server.
 */
export const usageByHourTable: UsageTable = {
  name: 'usage_by_hour',
  columns: `
        provider_id String,
        meter_name LowCardinality(String),
        customer_ref String,
        product_ref String,
        hour DateTime('UTC'),
        value Decimal(38, 6),
        records UInt64
    `,
  engine: 'SummingMergeTree',
  layout: `PARTITION BY toYYYYMM(hour)
    ORDER BY (provider_id, meter_name, customer_ref, product_ref, hour)`,
  shardedBy: shardedByCustomer,
  deduplicationWindow: 10_000,
}

export const usageByHour: ClickHouseMigration = {
  name: '0002-usage-by-hour',
  statements: (place) => [
    ...createUsageTable(usageByHourTable, place),
    `CREATE MATERIALIZED VIEW IF NOT EXISTS ${place.database}.usage_by_hour_view${onCluster(place)}
    TO ${storedName(usageByHourTable, place)} AS
    SELECT
        provider_id,
        meter_name,
        customer_ref,
        product_ref,
        toDateTime(toStartOfHour(timestamp), 'UTC') AS hour,
        sum(value) AS value,
        count() AS records
    FROM ${storedName(usageRecordsTable, place)}
    WHERE outcome = 'success'
    GROUP BY provider_id, meter_name, customer_ref, product_ref, hour`,
  ],
}
