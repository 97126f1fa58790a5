import type { ClickHouseMigration } from '@tollgate/platform/usage-store/clickhouse/migrations'
import { createUsageTable, type UsageTable } from '../usage-table.ts'

/** Records of the log that are not a meter event, with their exact bytes. The table is empty in normal operation. */
export const unreadableRecordsTable: UsageTable = {
  name: 'unreadable_records',
  columns: `
        log_partition UInt32,
        log_offset UInt64,
        received_at DateTime64(3, 'UTC'),
        error String,
        raw String COMMENT 'base64'
    `,
  engine: 'ReplacingMergeTree',
  layout: 'ORDER BY (log_partition, log_offset)',
  shardedBy: 'log_partition',
  deduplicationWindow: 1_000,
}

export const unreadableRecords: ClickHouseMigration = {
  name: '0003-unreadable-records',
  statements: (place) => createUsageTable(unreadableRecordsTable, place),
}
