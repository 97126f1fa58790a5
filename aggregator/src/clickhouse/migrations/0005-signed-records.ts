import type { ClickHouseMigration } from '@tollgate/platform/usage-store/clickhouse/migrations'
import { onCluster } from '@tollgate/platform/usage-store/clickhouse/migrated-place'
import { tablesToAlter } from '../usage-table.ts'
import { usageByHourTable } from './0002-usage-by-hour.ts'

/**
 * The sink corrects a roll-up that is too high with negative rows, so `records` needs a sign (see docs/decisions/clickhouse.md, A redo looks at what is stored).
 * ClickHouse rewrites this column in the background and converts its values on reads until then.
 */
export const signedRecords: ClickHouseMigration = {
  name: '0005-signed-records',
  statements: (place) =>
    tablesToAlter(usageByHourTable, place).map(
      (table) => `ALTER TABLE ${table}${onCluster(place)} MODIFY COLUMN records Int64`,
    ),
}
