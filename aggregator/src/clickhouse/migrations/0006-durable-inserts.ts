import type { ClickHouseMigration } from '@tollgate/platform/usage-store/clickhouse/migrations'
import {
  onCluster,
  type MigratedPlace,
} from '@tollgate/platform/usage-store/clickhouse/migrated-place'
import { syncInserts } from '../usage-table.ts'
import { usageRecordsTable } from './0001-usage-records.ts'
import { usageByHourTable } from './0002-usage-by-hour.ts'
import { unreadableRecordsTable } from './0003-unreadable-records.ts'
import { creditDebitsTable } from './0004-credit-debits.ts'

/**
 * An insert is acknowledged once its rows are on the disk, in the table and in the tables that its views fill, because the sink
 * advances its position on that acknowledgement. A merge syncs its result before the merged parts are deleted.
 *
 * `store_life` contains the name of the store's incarnation (see docs/decisions/clickhouse.md, The store is compared with the log).
 */
export const durableInserts: ClickHouseMigration = {
  name: '0006-durable-inserts',
  statements: (place) => [
    ...[usageRecordsTable, usageByHourTable, unreadableRecordsTable, creditDebitsTable].map(
      (table) => syncInserts(table, place),
    ),
    storeLifeTable(place),
  ],
}

/**
 * A single server keeps the row in memory and loses it at every restart, so an existing row proves that the server has not
 * restarted since. On a cluster, every server is a replica of one table, and the row exists as long as the data.
 */
function storeLifeTable(place: MigratedPlace): string {
  const { database, cluster } = place
  const engine =
    cluster === undefined
      ? 'Memory'
      : `ReplicatedMergeTree('/tollgate/${cluster}/{database}/{table}', '{shard}-{replica}') ORDER BY id`
  return `CREATE TABLE IF NOT EXISTS ${database}.store_life${onCluster(place)} (id String) ENGINE = ${engine}`
}
