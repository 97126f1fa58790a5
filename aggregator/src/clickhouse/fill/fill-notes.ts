import { randomUUID } from 'node:crypto'
import {
  onCluster,
  type MigratedPlace,
} from '@tollgate/platform/usage-store/clickhouse/migrated-place'
import type { Column, UsageStore } from '@tollgate/platform/usage-store/usage-store'
import { syncSettings } from '../usage-table.ts'

/**
 * Returns the statement that creates the table with the claims, bounds and progress of a fill. Rows are only added, and are on the disk
 * when an insert is acknowledged: with bounds that were lost, the fill would add what the views have counted. On a cluster it is one
 * table that is replicated to every server.
 */
export function notesTable(place: MigratedPlace): string {
  const { database, cluster } = place
  const engine =
    cluster === undefined
      ? 'MergeTree'
      : `ReplicatedMergeTree('/tollgate/${cluster}/{database}/{table}', '{shard}-{replica}')`
  return `CREATE TABLE IF NOT EXISTS ${database}.roll_up_fill${onCluster(place)}
    (kind LowCardinality(String), name String, key UInt64, value UInt64, at DateTime64(6, 'UTC') DEFAULT now64(6, 'UTC'))
    ENGINE = ${engine} ORDER BY (kind, name, key)
    SETTINGS ${syncSettings(place)}`
}

export type FillNote = {
  /**
   * `claim`: the process `name` is alive, and wants to fill or fills. `released`: it has ended. `bounds`: the set of bounds `name`
   * is complete. `bound`: in this set, records of the shard and partition `key` below the offset `value` need the fill. `empty`: no
   * record was stored before the views, so the fill has nothing to add. `filled`: the month `key` of a table is filled.
   *
   * The names of bounds, of an empty store and of filled tables begin with the fill (`0013/`), because the bounds of one fill leave a
   * hole in the tables of another.
   */
  readonly kind: 'claim' | 'released' | 'bounds' | 'bound' | 'empty' | 'filled'
  readonly name: string
  readonly key: number
  readonly value: number
}

const columns: readonly Column<FillNote>[] = [
  { name: 'kind', type: 'String', value: ({ kind }) => kind },
  { name: 'name', type: 'String', value: ({ name }) => name },
  { name: 'key', type: 'UInt64', value: ({ key }) => key },
  { name: 'value', type: 'UInt64', value: ({ value }) => value },
]

/** Adds notes as one block: all of them are stored, or none. */
export async function addNotes(
  store: UsageStore,
  { database }: MigratedPlace,
  notes: readonly FillNote[],
): Promise<void> {
  await store.insert(`${database}.roll_up_fill`, columns, notes, randomUUID())
}

/**
 * Bounds by shard and partition, or `nothing` if the store was empty. Without a bound for any partition there may still be records to
 * fill: those that belong to no log.
 */
export type FillBounds = ReadonlyMap<string, string> | 'nothing'

/**
 * Returns the bounds that are noted for the fill, or undefined if there are none. The first complete set counts, or the first note of
 * an empty store.
 */
export async function readBounds(
  store: UsageStore,
  { database }: MigratedPlace,
  fill: string,
): Promise<FillBounds | undefined> {
  const [first] = await store.query<{ kind: 'bounds' | 'empty'; name: string }>(
    `SELECT kind, name FROM ${database}.roll_up_fill
     WHERE kind IN ('bounds', 'empty') AND startsWith(name, {fill:String}) ORDER BY at, name LIMIT 1`,
    { fill: `${fill}/` },
  )
  if (first === undefined) return undefined
  if (first.kind === 'empty') return 'nothing'
  const rows = await store.query<{ key: string; value: string }>(
    `SELECT toString(key) AS key, toString(value) AS value FROM ${database}.roll_up_fill
     WHERE kind = 'bound' AND name = {name:String}`,
    { name: first.name },
  )
  return new Map(rows.map(({ key, value }) => [key, value]))
}

/** Returns the months that are filled, as `fill/table month`. */
export async function listFilled(
  store: UsageStore,
  { database }: MigratedPlace,
): Promise<ReadonlySet<string>> {
  const rows = await store.query<{ filled: string }>(
    `SELECT DISTINCT concat(name, ' ', toString(key)) AS filled FROM ${database}.roll_up_fill WHERE kind = 'filled'`,
  )
  return new Set(rows.map(({ filled }) => filled))
}
