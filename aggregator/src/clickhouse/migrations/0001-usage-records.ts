import type { ClickHouseMigration } from '@tollgate/platform/usage-store/clickhouse/migrations'
import { createUsageTable, shardedByCustomer, type UsageTable } from '../usage-table.ts'

/**
 * This table contains every usage record once. Its only writer is the sink of the aggregator. Because of the deduplication window,
 * a repeated insert of a batch with the same token changes nothing. The window counts blocks, one per batch and month, so a batch
 * can be repeated after thousands of others have been stored.
 */
export const usageRecordsTable: UsageTable = {
  name: 'usage_records',
  columns: `
        id String,
        provider_id String,
        customer_ref String,
        meter_name LowCardinality(String),
        value Decimal(18, 6),
        timestamp DateTime64(3, 'UTC'),
        received_at DateTime64(3, 'UTC'),
        product_ref String,
        purchase_ref String,
        outcome LowCardinality(String),
        source LowCardinality(String),
        idempotency_key String,
        properties String CODEC(ZSTD),
        log_partition UInt32,
        log_offset UInt64
    `,
  engine: 'ReplacingMergeTree',
  layout: `PARTITION BY toYYYYMM(timestamp)
    ORDER BY (provider_id, meter_name, customer_ref, timestamp, id)`,
  shardedBy: shardedByCustomer,
  deduplicationWindow: 10_000,
}

export const usageRecords: ClickHouseMigration = {
  name: '0001-usage-records',
  statements: (place) => createUsageTable(usageRecordsTable, place),
}
