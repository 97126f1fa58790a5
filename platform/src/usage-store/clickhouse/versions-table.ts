import type { UsageStore } from '../usage-store.ts'
import { onCluster, type MigratedPlace } from './migrated-place.ts'

/**
 * Which migrations a database has had. On a cluster it is one table of which every server of every shard is a replica,
 * so that each of them can be asked. The window drops the entry of a second process that applied the same migration.
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

/** The tables of one kind of installation do not become those of the other by being asked again. */
export class OtherTopologyError extends Error {
  override readonly name = 'OtherTopologyError'
}

/**
 * Throws OtherTopologyError when the database was made for a single server and is now told of a cluster, or the other
 * way round. All statements say IF NOT EXISTS, so nothing else would notice, and rows would stay on one server.
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
