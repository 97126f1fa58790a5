import type { ClickHouseMigration } from '@tollgate/platform/usage-store/clickhouse/migrations'
import { onCluster } from '@tollgate/platform/usage-store/clickhouse/migrated-place'
import { tablesToAlter } from '../usage-table.ts'
import { usageRecordsTable } from './0001-usage-records.ts'

/**
 * A record that counts on several meters has a row for each of them, with the same id and log offset. The sink of the aggregator
 * writes these columns; rows of earlier releases have their defaults.
 */
export const eventCounts: ClickHouseMigration = {
  name: '0007-event-counts',
  statements: (place) =>
    tablesToAlter(usageRecordsTable, place).map(
      (table) =>
        `ALTER TABLE ${table}${onCluster(place)}
    ADD COLUMN IF NOT EXISTS event_type LowCardinality(String) AFTER debit,
    ADD COLUMN IF NOT EXISTS dimensions Map(LowCardinality(String), String) AFTER event_type,
    ADD COLUMN IF NOT EXISTS value_text String AFTER dimensions`,
    ),
}
