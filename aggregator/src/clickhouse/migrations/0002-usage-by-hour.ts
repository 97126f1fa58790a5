import type { ClickHouseMigration } from '@tollgate/platform/usage-store/clickhouse/migrations'

/**
 * Roll-up of what counts, fed by the view below. The window on the target is what makes a repeated insert heal a view
 * that a crash left behind its table, without counting twice.
 */
export const usageByHour: ClickHouseMigration = {
  name: '0002-usage-by-hour',
  statements: [
    `CREATE TABLE IF NOT EXISTS usage_by_hour
    (
        provider_id String,
        meter_name LowCardinality(String),
        customer_ref String,
        product_ref String,
        hour DateTime('UTC'),
        value Decimal(38, 6),
        records UInt64
    )
    ENGINE = SummingMergeTree
    PARTITION BY toYYYYMM(hour)
    ORDER BY (provider_id, meter_name, customer_ref, product_ref, hour)
    SETTINGS non_replicated_deduplication_window = 10000`,
    `CREATE MATERIALIZED VIEW IF NOT EXISTS usage_by_hour_view TO usage_by_hour AS
    SELECT
        provider_id,
        meter_name,
        customer_ref,
        product_ref,
        toDateTime(toStartOfHour(timestamp), 'UTC') AS hour,
        sum(value) AS value,
        count() AS records
    FROM usage_records
    WHERE outcome = 'success'
    GROUP BY provider_id, meter_name, customer_ref, product_ref, hour`,
  ],
}
