import type { ClickHouseMigration } from '@tollgate/platform/usage-store/clickhouse/migrations'

/**
 * Records of the log that are no meter event, byte for byte. Empty on a healthy day.
 */
export const unreadableRecords: ClickHouseMigration = {
  name: '0003-unreadable-records',
  statements: [
    `CREATE TABLE IF NOT EXISTS unreadable_records
    (
        log_partition UInt32,
        log_offset UInt64,
        received_at DateTime64(3, 'UTC'),
        error String,
        raw String COMMENT 'base64'
    )
    ENGINE = ReplacingMergeTree
    ORDER BY (log_partition, log_offset)
    SETTINGS non_replicated_deduplication_window = 1000`,
  ],
}
