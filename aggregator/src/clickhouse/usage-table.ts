import {
  onCluster,
  type MigratedPlace,
} from '@tollgate/platform/usage-store/clickhouse/migrated-place'

export type UsageTable = {
  readonly name: string
  /** The columns with their types, as they appear between the parentheses of CREATE TABLE. */
  readonly columns: string
  readonly engine: 'ReplacingMergeTree' | 'SummingMergeTree' | 'AggregatingMergeTree'
  /** The clauses PARTITION BY and ORDER BY. */
  readonly layout: string
  /**
   * Expression for the shard of a row. It uses only columns of the ORDER BY, so that rows which the engine or FINAL would merge are
   * always on one shard.
   */
  readonly shardedBy: string
  /** Number of blocks whose insert token is remembered, so that a repeated insert changes nothing. */
  readonly deduplicationWindow: number
}

/** Keeps all usage of one customer on one shard. */
export const shardedByCustomer = 'cityHash64(provider_id, customer_ref)'

/**
 * A cluster also forgets tokens by age, after one hour by default. A batch may be repeated after an outage of any length, so this
 * is set to ten years and only the number of tokens matters.
 */
const deduplicationSeconds = 315_360_000

/** Returns the table that stores the rows: the table itself, or its local part on each server of a cluster. */
export function storedName({ name }: UsageTable, { database, cluster }: MigratedPlace): string {
  return `${database}.${name}${cluster === undefined ? '' : '_local'}`
}

/** Returns the settings with which an insert into a table is acknowledged only once its rows are on the disk. */
export function syncSettings({ cluster }: MigratedPlace): string {
  const synced = [
    'fsync_after_insert = 1',
    'fsync_part_directory = 1',
    'min_rows_to_fsync_after_merge = 1',
  ]
  // A replica that has fetched a part counts towards the quorum, so it must sync the part too.
  if (cluster !== undefined) synced.push('min_compressed_bytes_to_fsync_after_fetch = 1')
  return synced.join(', ')
}

/** Returns the statement after which an insert into the table is acknowledged only once its rows are on the disk. */
export function syncInserts(table: UsageTable, place: MigratedPlace): string {
  return `ALTER TABLE ${storedName(table, place)}${onCluster(place)} MODIFY SETTING ${syncSettings(place)}`
}

/** Returns the tables that a change of columns must alter: on a cluster, the table of each server and the distributed one. */
export function tablesToAlter(table: UsageTable, place: MigratedPlace): string[] {
  return [...new Set([storedName(table, place), `${place.database}.${table.name}`])]
}

/**
 * Returns the statements that create a table. On a cluster they create a replicated table on every server and a distributed table
 * over them. The distributed table has the name that the sink and all readers use.
 */
export function createUsageTable(table: UsageTable, place: MigratedPlace): readonly string[] {
  const { name, columns, engine, layout, shardedBy, deduplicationWindow } = table
  const { database, cluster } = place
  if (cluster === undefined) {
    return [
      `CREATE TABLE IF NOT EXISTS ${database}.${name}
    (${columns})
    ENGINE = ${engine}
    ${layout}
    SETTINGS non_replicated_deduplication_window = ${deduplicationWindow}`,
    ]
  }
  return [
    `CREATE TABLE IF NOT EXISTS ${storedName(table, place)}${onCluster(place)}
    (${columns})
    ENGINE = Replicated${engine}('/tollgate/${cluster}/{shard}/{database}/{table}', '{replica}')
    ${layout}
    SETTINGS replicated_deduplication_window = ${deduplicationWindow},
      replicated_deduplication_window_seconds = ${deduplicationSeconds}`,
    `CREATE TABLE IF NOT EXISTS ${database}.${name}${onCluster(place)}
    AS ${storedName(table, place)}
    ENGINE = Distributed('${cluster}', '${database}', '${name}_local', ${shardedBy})`,
  ]
}

/** Returns the statements that create a table whose rows are on the disk when an insert is acknowledged. */
export function createSyncedTable(table: UsageTable, place: MigratedPlace): readonly string[] {
  return [...createUsageTable(table, place), syncInserts(table, place)]
}

/** Returns the statements after which every replica has the rows that any replica has now. A single server needs none. */
export function syncReplicas(table: UsageTable, place: MigratedPlace): readonly string[] {
  if (place.cluster === undefined) return []
  return [`SYSTEM SYNC REPLICA${onCluster(place)} ${storedName(table, place)}`]
}
