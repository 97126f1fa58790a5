import type { ClickHouseMigration } from '@tollgate/platform/usage-store/clickhouse/migrations'
import { onCluster } from '@tollgate/platform/usage-store/clickhouse/migrated-place'
import { createUsageTable, storedName, tablesToAlter, type UsageTable } from '../usage-table.ts'
import { usageRecordsTable } from './0001-usage-records.ts'

/**
 * Usage that wallets paid for, in the order of the log. The ledger posts its entries from this table. The view below fills it, so
 * it has a row for every such row in `usage_records`.
 */
export const creditDebitsTable: UsageTable = {
  name: 'credit_debits',
  columns: `
        log_partition UInt32,
        log_offset UInt64,
        id String,
        provider_id String,
        customer_ref String,
        product_ref String,
        debit Decimal(38, 6),
        timestamp DateTime64(3, 'UTC')
    `,
  engine: 'ReplacingMergeTree',
  layout: 'ORDER BY (log_partition, log_offset, id)',
  shardedBy: 'log_partition',
  deduplicationWindow: 10_000,
}

export const creditDebits: ClickHouseMigration = {
  name: '0004-credit-debits',
  statements: (place) => [
    ...tablesToAlter(usageRecordsTable, place).map(
      (table) =>
        `ALTER TABLE ${table}${onCluster(place)}
    ADD COLUMN IF NOT EXISTS debit Decimal(38, 6) AFTER properties`,
    ),
    ...createUsageTable(creditDebitsTable, place),
    `CREATE MATERIALIZED VIEW IF NOT EXISTS ${place.database}.credit_debits_view${onCluster(place)}
    TO ${storedName(creditDebitsTable, place)} AS
    SELECT log_partition, log_offset, id, provider_id, customer_ref, product_ref, debit, timestamp
    FROM ${storedName(usageRecordsTable, place)}
    WHERE debit > 0`,
  ],
}
