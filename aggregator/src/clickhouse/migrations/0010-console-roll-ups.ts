import type { ClickHouseMigration } from '@tollgate/platform/usage-store/clickhouse/migrations'
import { onCluster } from '@tollgate/platform/usage-store/clickhouse/migrated-place'
import { createSyncedTable, tablesToAlter } from '../usage-table.ts'
import { usageRecordsTable } from './0001-usage-records.ts'
import { usageByDimension, usageByPurchase } from './0012-roll-up-tables.ts'

/** Creates the tables of the first roll-ups of the console. Migration 0013 creates their views and fills them. */
export const consoleRollUps: ClickHouseMigration = {
  name: '0010-console-roll-ups',
  statements: (place) => [
    ...tablesToAlter(usageRecordsTable, place).map(
      (table) =>
        `ALTER TABLE ${table}${onCluster(place)}
    ADD COLUMN IF NOT EXISTS is_further UInt8 AFTER value_text`,
    ),
    ...[usageByPurchase, usageByDimension].flatMap(({ table }) => createSyncedTable(table, place)),
  ],
}
