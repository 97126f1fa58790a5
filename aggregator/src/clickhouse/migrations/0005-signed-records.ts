import type { ClickHouseMigration } from '@tollgate/platform/usage-store/clickhouse/migrations'
import { onCluster } from '@tollgate/platform/usage-store/clickhouse/migrated-place'
import { storedName } from '../usage-table.ts'
import { usageByHourTable } from './0002-usage-by-hour.ts'

/**
 * The sink subtracts what the roll-up counted too often, so `records` has a sign (see docs/decisions/clickhouse.md, A redo
 * looks at what is stored). ClickHouse rewrites the column in the background and converts it on reads until then.
 */
export const signedRecords: ClickHouseMigration = {
  name: '0005-signed-records',
  statements: (place) => {
    const front = `${place.database}.${usageByHourTable.name}`
    const tables = new Set([storedName(usageByHourTable, place), front])
    return [...tables].map(
      (table) => `ALTER TABLE ${table}${onCluster(place)} MODIFY COLUMN records Int64`,
    )
  },
}
