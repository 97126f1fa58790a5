import type { ClickHouseMigration } from '@tollgate/platform/usage-store/clickhouse/migrations'
import { onCluster } from '@tollgate/platform/usage-store/clickhouse/migrated-place'
import { createUsageTable, shardedByCustomer, storedName, type UsageTable } from '../usage-table.ts'
import { usageRecordsTable } from './0001-usage-records.ts'

/**
 * Sums of the counted records of one range of offsets of a log partition, by hour. The rows of a range that count are those of one
 * version, which `usage_totals_ranges` names. All other rows are left over from an interrupted or replaced attempt.
 */
export const usageTotalsTable: UsageTable = {
  name: 'usage_totals',
  columns: `
        provider_id String,
        customer_ref String,
        meter_name LowCardinality(String),
        product_ref String,
        hour DateTime('UTC'),
        log_partition UInt32,
        from_offset UInt64,
        version UInt64,
        value Decimal(38, 6),
        debit Decimal(38, 6),
        records UInt64
    `,
  engine: 'ReplacingMergeTree',
  layout: `PARTITION BY toYYYYMM(hour)
    ORDER BY (provider_id, customer_ref, meter_name, product_ref, hour, log_partition, from_offset, version)`,
  shardedBy: shardedByCustomer,
  deduplicationWindow: 1_000,
}

/**
 * The states that each version of the totals of a range has had. A version counts if it is `valid` in the current generation and
 * incarnation of the stored rows and was never `dropped`. Rows are only added, so their order does not matter.
 */
export const usageTotalsRangesTable: UsageTable = {
  name: 'usage_totals_ranges',
  columns: `
        log_partition UInt32,
        from_offset UInt64,
        to_offset UInt64,
        version UInt64,
        state LowCardinality(String),
        generation String,
        incarnation String,
        value Decimal(38, 6),
        debit Decimal(38, 6),
        records UInt64,
        at DateTime64(3, 'UTC') DEFAULT now64(3)
    `,
  engine: 'ReplacingMergeTree',
  layout:
    'ORDER BY (log_partition, from_offset, to_offset, version, state, generation, incarnation)',
  shardedBy: 'log_partition',
  deduplicationWindow: 1_000,
}

/**
 * The index lets a query skip the rows of a customer that are outside of a range of offsets: a customer's rows are sorted by time,
 * so neighbouring rows have similar offsets. ClickHouse builds it for existing rows in the background.
 */
export const usageTotals: ClickHouseMigration = {
  name: '0008-usage-totals',
  statements: (place) => {
    const records = storedName(usageRecordsTable, place)
    const synced =
      'fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1'
    const fetched =
      place.cluster === undefined ? '' : ', min_compressed_bytes_to_fsync_after_fetch = 1'
    return [
      ...createUsageTable(usageTotalsTable, place),
      ...createUsageTable(usageTotalsRangesTable, place),
      ...[usageTotalsTable, usageTotalsRangesTable].map(
        (table) =>
          `ALTER TABLE ${storedName(table, place)}${onCluster(place)} MODIFY SETTING ${synced}${fetched}`,
      ),
      `ALTER TABLE ${records}${onCluster(place)}
    ADD INDEX IF NOT EXISTS log_offsets log_offset TYPE minmax GRANULARITY 1`,
      `ALTER TABLE ${records}${onCluster(place)}
    MATERIALIZE INDEX log_offsets SETTINGS mutations_sync = 0`,
    ]
  },
}
