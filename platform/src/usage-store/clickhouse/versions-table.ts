import type { UsageStore } from '../usage-store.ts'
import { onCluster, type MigratedPlace } from './migrated-place.ts'

/**
 * Returns the statement that creates the table of applied migrations. On a cluster it is one table replicated to every server of
 * every shard, so that each server can answer. The deduplication window drops the entry of a second process that applied the same
 * migration.
 */
export function versionsTable(place: MigratedPlace): string {
  const { database, cluster } = place
  const isReplicated = cluster !== undefined
  const engine = isReplicated
    ? `ReplicatedMergeTree('/tollgate/${cluster}/{database}/{table}', '{shard}-{replica}')`
    : 'MergeTree'
  return `CREATE TABLE IF NOT EXISTS \`${database}\`.schema_migrations${onCluster(place)}
    (name String, applied_at DateTime64(3) DEFAULT now64(3))
    ENGINE = ${engine} ORDER BY name
    SETTINGS ${isReplicated ? '' : 'non_'}replicated_deduplication_window = 1000`
}

/**
 * The database was created for a single server and a cluster is configured, or the other way round. Tables are not converted
 * automatically.
 */
export class OtherTopologyError extends Error {
  override readonly name = 'OtherTopologyError'
}

/**
 * Throws an OtherTopologyError if the database was created for a single server and a cluster is configured, or the other way round.
 * All statements use IF NOT EXISTS, so nothing else would detect it, and rows would stay on one server.
 */
export async function requireSameTopology(
  store: UsageStore,
  { database, cluster }: MigratedPlace,
): Promise<void> {
  const [found] = await store.query<{ engine: string }>(
    `SELECT engine FROM system.tables WHERE database = {database:String} AND name = 'schema_migrations'`,
    { database },
  )
  if (found === undefined) return
  const wasCluster = found.engine.startsWith('Replicated')
  if (wasCluster === (cluster !== undefined)) return
  throw new OtherTopologyError(
    `The ClickHouse database ${database} was made for ${wasCluster ? 'a cluster' : 'a single server'}, and ` +
      `TOLLGATE_CLICKHOUSE_CLUSTER is ${cluster ?? 'empty'}. See "From one ClickHouse server to a cluster" in docs/operations.md.`,
  )
}
