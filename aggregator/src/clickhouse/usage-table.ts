import {
  onCluster,
  type MigratedPlace,
} from '@tollgate/platform/usage-store/clickhouse/migrated-place'

export type UsageTable = {
  readonly name: string
  /** The columns with their types, as between the parentheses of CREATE TABLE. */
  readonly columns: string
  readonly engine: 'ReplacingMergeTree' | 'SummingMergeTree'
  /** PARTITION BY and ORDER BY. */
  readonly layout: string
  /**
   * Which shard a row goes to. Made of columns of the ORDER BY alone, so that rows which the engine would merge, and
   * which FINAL takes for one, are never on two shards.
   */
  readonly shardedBy: string
  /** Blocks whose token is remembered, so that a repeated insert changes nothing. */
  readonly deduplicationWindow: number
}

/** One customer's usage is on one shard. */
export const shardedByCustomer = 'cityHash64(provider_id, customer_ref)'

/**
 * A cluster forgets tokens by their age as well, after an hour if it is not told otherwise. A batch may be repeated
 * after any time the sink was down, so only their number counts: ten years.
 */
const deduplicationSeconds = 315_360_000

/** Where rows lie: the table itself, or its part on one server of a cluster. */
export function storedName({ name }: UsageTable, { database, cluster }: MigratedPlace): string {
  return `${database}.${name}${cluster === undefined ? '' : '_local'}`
}

/**
 * The statements that make a table. On a cluster it is a replicated table on every server and, under the name that the
 * sink and all readers use, a distributed one in front.
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
