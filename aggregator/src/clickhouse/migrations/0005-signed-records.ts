import type { ClickHouseMigration } from '@tollgate/platform/usage-store/clickhouse/migrations'
import { onCluster } from '@tollgate/platform/usage-store/clickhouse/migrated-place'
import { storedName } from '../usage-table.ts'
import { usageByHourTable } from './0002-usage-by-hour.ts'

/**
 * The sink takes back what the roll-up has too much (decision 49), so `records` has a sign. ClickHouse rewrites the one
 * column in the background; until then it converts what it reads.
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
