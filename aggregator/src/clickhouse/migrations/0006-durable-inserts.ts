import type { ClickHouseMigration } from '@tollgate/platform/usage-store/clickhouse/migrations'
import {
  onCluster,
  type MigratedPlace,
} from '@tollgate/platform/usage-store/clickhouse/migrated-place'
import { storedName } from '../usage-table.ts'
import { usageRecordsTable } from './0001-usage-records.ts'
import { usageByHourTable } from './0002-usage-by-hour.ts'
import { unreadableRecordsTable } from './0003-unreadable-records.ts'
import { creditDebitsTable } from './0004-credit-debits.ts'

/**
 * An insert is answered when its rows are on the disk, in the table and in what its views feed, because the sink moves
 * its position on that answer. A merge syncs its result before the parts that it replaces are deleted.
 *
 * `store_life` names the incarnation of the store (see docs/decisions/clickhouse.md, The store is compared with the log).
 */
export const durableInserts: ClickHouseMigration = {
  name: '0006-durable-inserts',
  statements: (place) => [
    ...[usageRecordsTable, usageByHourTable, unreadableRecordsTable, creditDebitsTable].map(
      (table) =>
        `ALTER TABLE ${storedName(table, place)}${onCluster(place)} MODIFY SETTING ${settings(place)}`,
    ),
    storeLifeTable(place),
  ],
}

function settings({ cluster }: MigratedPlace): string {
  const synced = [
    'fsync_after_insert = 1',
    'fsync_part_directory = 1',
    'min_rows_to_fsync_after_merge = 1',
  ]
  // A replica that has fetched a part counts for the quorum.
  if (cluster !== undefined) synced.push('min_compressed_bytes_to_fsync_after_fetch = 1')
  return synced.join(', ')
}

/**
 * A single server keeps its row in memory and loses it with every restart, so a row means: this process has answered
 * since. On a cluster it is one table of which every server is a replica, and the row lasts as long as the data.
 */
function storeLifeTable(place: MigratedPlace): string {
  const { database, cluster } = place
  const engine =
    cluster === undefined
      ? 'Memory'
      : `ReplicatedMergeTree('/tollgate/${cluster}/{database}/{table}', '{shard}-{replica}') ORDER BY id`
  return `CREATE TABLE IF NOT EXISTS ${database}.store_life${onCluster(place)} (id String) ENGINE = ${engine}`
}
