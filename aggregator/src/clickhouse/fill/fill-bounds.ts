import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  onCluster,
  type MigratedPlace,
} from '@tollgate/platform/usage-store/clickhouse/migrated-place'
import type { MigrationWork } from '@tollgate/platform/usage-store/clickhouse/migrations'
import { offsetOfNoLog } from '@tollgate/schemas/usage-records'
import { usageRecordsTable } from '../migrations/0001-usage-records.ts'
import { createSyncedTable, storedName, syncReplicas, type UsageTable } from '../usage-table.ts'
import { addNotes, readBounds, type FillBounds } from './fill-notes.ts'
import { fillComment } from './fill-queries.ts'

/** Returns the table with the first offset of each log partition that the views of a fill saw. */
function firstOffsetsTable(fill: string): UsageTable {
  return {
    name: `roll_up_first_offsets_${fill}`,
    columns: 'log_partition UInt32, first_offset SimpleAggregateFunction(min, UInt64)',
    engine: 'AggregatingMergeTree',
    layout: 'ORDER BY log_partition',
    shardedBy: 'log_partition',
    deduplicationWindow: 0,
  }
}

/** Returns the statements that create the observer of a fill: a view of `from` which notes the first offsets. */
export function createObserver(
  fill: string,
  from: string,
  place: MigratedPlace,
): readonly string[] {
  const table = firstOffsetsTable(fill)
  return [
    ...createSyncedTable(table, place),
    `CREATE MATERIALIZED VIEW IF NOT EXISTS ${place.database}.${table.name}_view${onCluster(place)}
    TO ${storedName(table, place)} AS
    SELECT log_partition, min(log_offset) AS first_offset
    FROM ${place.database}.${from}
    WHERE log_offset != ${offsetOfNoLog}
    GROUP BY log_partition`,
  ]
}

/**
 * Removes the view of the observer. Its table stays, with one row for each partition: another process may have just found the table, and
 * be about to create the view. A view without its table refuses every insert of records.
 */
export async function removeObserver({ store, place }: MigrationWork, fill: string): Promise<void> {
  const view = `${place.database}.${firstOffsetsTable(fill).name}_view`
  await store.command(`DROP TABLE IF EXISTS ${view}${onCluster(place)} SYNC`)
}

/** Returns the expression that names a log partition, and on a cluster the shard too, in one number. */
export function partitionKey({ cluster }: MigratedPlace): string {
  return cluster === undefined
    ? 'toUInt64(log_partition)'
    : 'toUInt64(_shard_num) * 4294967296 + log_partition'
}

/**
 * Returns the bounds between the records that were stored before the views existed and those that the views see: of each partition the
 * first offset that needs no fill. They are noted, so every repetition uses the same.
 *
 * An insert uses the views that exist when it begins, and the sink of a partition stores its offsets in order. So the views see a
 * partition from one offset on. If they have seen none of it, all inserts that began before the views have ended, and the bound is
 * behind the last stored offset.
 */
export async function noteBounds(work: MigrationWork, fill: string): Promise<FillBounds> {
  const { store, place } = work
  for (;;) {
    const noted = await readBounds(store, place, fill)
    if (noted !== undefined) return noted
    const name = newName(fill)
    const bounds = [...(await observeBounds(work, fill))].map(([key, value]) => ({
      ...{ kind: 'bound' as const, name, key: Number(key), value: Number(value) },
    }))
    await addNotes(store, place, [...bounds, { kind: 'bounds', name, key: 0, value: 0 }])
  }
}

/**
 * Returns whether the views see all records: none was stored before them, and none can still be. The process that finds the store empty
 * notes it first. A process that comes later finds records that the views have counted meanwhile, and no observer that saw them.
 */
export async function isNothingToFill(work: MigrationWork, fill: string): Promise<boolean> {
  const { store, place } = work
  const noted = await readBounds(store, place, fill)
  if (noted !== undefined) return noted === 'nothing'
  await drainInserts(work)
  await syncRecords(work)
  const [found] = await store.query(
    `SELECT 1 AS found FROM ${place.database}.usage_records LIMIT 1`,
  )
  if (found !== undefined) return false
  await addNotes(store, place, [{ kind: 'empty', name: newName(fill), key: 0, value: 0 }])
  return (await readBounds(store, place, fill)) === 'nothing'
}

function newName(fill: string): string {
  return `${fill}/${randomUUID()}`
}

/** Returns the bounds by partition key. */
async function observeBounds(work: MigrationWork, fill: string): Promise<Map<string, string>> {
  const { store, place } = work
  await drainInserts(work)
  await syncRecords(work)
  const stored = await store.query<{ key: string; bound: string }>(
    `SELECT toString(${partitionKey(place)}) AS key, toString(max(log_offset) + 1) AS bound
     FROM ${place.database}.usage_records WHERE log_offset != ${offsetOfNoLog} GROUP BY key`,
  )
  // An insert whose records were just read may not have reached the observer yet.
  await drainInserts(work)
  const seen = await store.query<{ key: string; bound: string }>(
    `SELECT toString(${partitionKey(place)}) AS key, toString(min(first_offset)) AS bound
     FROM ${place.database}.${firstOffsetsTable(fill).name} GROUP BY key`,
  )
  return new Map([...stored, ...seen].map(({ key, bound }) => [key, bound]))
}

/** Makes every replica complete. A quorum of inserts may leave out the one that is read: its records would not be filled. */
export async function syncRecords({ longStore, place }: MigrationWork): Promise<void> {
  for (const statement of syncReplicas(usageRecordsTable, place)) await longStore.command(statement)
}

/** Longer than any insert of a sink can take. */
const drainMsMax = 1_800_000
const drainPollMs = 250

/**
 * Waits until every insert of records that has begun by now has ended. A query that a killed process of the fill left running also
 * inserts, and reads the records. It adds none.
 */
async function drainInserts({ store, place, signal }: MigrationWork): Promise<void> {
  const { cluster } = place
  const [now] = await store.query<{ now: string }>(`SELECT toString(now64(6, 'UTC')) AS now`)
  const processes =
    cluster === undefined
      ? 'system.processes'
      : `clusterAllReplicas('${cluster}', system.processes)`
  const endMs = performance.now() + drainMsMax
  for (;;) {
    const [running] = await store.query<{ total: string }>(
      `SELECT count() AS total FROM ${processes}
       WHERE query_kind = 'Insert' AND NOT is_cancelled AND position(query, 'usage_records') > 0
         AND NOT startsWith(Settings['log_comment'], '${fillComment}')
         AND now64(6, 'UTC') - toIntervalMicrosecond(toInt64(elapsed * 1000000)) <= toDateTime64({now:String}, 6, 'UTC')`,
      now,
    )
    if (Number(running!.total) === 0) return
    if (performance.now() > endMs) throw new Error('an insert of usage records does not end')
    await sleep(drainPollMs, undefined, { signal })
  }
}
