import { randomBytes } from 'node:crypto'
import type { MigrationWork } from '@tollgate/platform/usage-store/clickhouse/migrations'
import {
  onCluster,
  type MigratedPlace,
} from '@tollgate/platform/usage-store/clickhouse/migrated-place'
import { offsetOfNoLog } from '@tollgate/schemas/usage-records'
import { createSyncedTable, storedName, syncReplicas, type UsageTable } from '../usage-table.ts'
import {
  isNothingToFill,
  partitionKey,
  removeObserver,
  noteBounds,
  syncRecords,
} from './fill-bounds.ts'
import { claimFill, type ClaimTimes, type FillClaim } from './fill-claim.ts'
import { addNotes, listFilled } from './fill-notes.ts'
import { commentOf, killQueries } from './fill-queries.ts'
import { insertFilled, type FilledTable } from './filled-table.ts'

export type RollUpFill = {
  /** The number of its migration. It also names the observer and the notes of this fill. */
  readonly fill: string
  readonly tables: readonly FilledTable[]
}

/**
 * Adds to roll-ups the records that their views did not see. It can be killed at any point and repeated, by several processes at once,
 * while sinks of an older version store:
 *
 *  1. One process claims the fill. The others wait until it has finished or is dead.
 *  2. `noteBounds` notes which records the views did not see. These no longer change.
 *  3. Each month of each table is computed into a table of this process alone, newest month first. `REPLACE PARTITION` puts it in place
 *     in one step, and the month is noted as filled. A crash before the note repeats the month, which replaces it by the same rows.
 *
 * A query that a killed process left running writes to the table of that process, which is dropped here.
 */
export async function fillRollUps(
  work: MigrationWork,
  { fill, tables }: RollUpFill,
  times?: ClaimTimes,
): Promise<void> {
  const { store, place, signal } = work
  if (await isNothingToFill(work, fill)) return removeObserver(work, fill)
  const owner = randomBytes(8).toString('hex')
  const claim = await claimFill(store, place, owner, signal, times)
  const kill = (): void => void killQueries(work, owner).catch(() => undefined)
  signal.addEventListener('abort', kill)
  try {
    await removeLeftovers(work, tables)
    const bounds = await noteBounds(work, fill)
    if (bounds !== 'nothing') await fillMonths(work, claim, { fill, owner, tables, bounds })
    await removeObserver(work, fill)
  } finally {
    signal.removeEventListener('abort', kill)
    await claim.release().catch(() => undefined)
  }
}

type RunningFill = RollUpFill & {
  readonly owner: string
  readonly bounds: ReadonlyMap<string, string>
}

async function fillMonths(
  work: MigrationWork,
  claim: FillClaim,
  running: RunningFill,
): Promise<void> {
  const { store, place, report, signal } = work
  await syncRecords(work)
  const months = await store.query<{ month: string }>(
    `SELECT DISTINCT _partition_id AS month FROM ${place.database}.usage_records ORDER BY month DESC`,
  )
  const filled = await listFilled(store, place)
  for (const [index, { month }] of months.entries()) {
    for (const filledTable of running.tables) {
      const name = `${running.fill}/${filledTable.table.name}`
      if (filled.has(`${name} ${month}`)) continue
      signal.throwIfAborted()
      claim.requireHeld()
      await fillMonth(work, running, filledTable, month)
      await addNotes(store, place, [{ kind: 'filled', name, key: Number(month), value: 0 }])
    }
    report(
      { database: place.database, month, filled: index + 1, months: months.length },
      'the roll-ups of a month of stored usage are filled',
    )
  }
}

async function fillMonth(
  { store, longStore, place }: MigrationWork,
  { owner, bounds }: RunningFill,
  filledTable: FilledTable,
  month: string,
): Promise<void> {
  const { table } = filledTable
  const { database } = place
  const own: UsageTable = { ...table, name: `${table.name}_fill_${owner}`, deduplicationWindow: 0 }
  // The parts of this table become parts of the roll-up, and the note that the month is filled is on the disk.
  for (const statement of createSyncedTable(own, place)) await store.command(statement)
  await longStore.command(
    insertFilled(filledTable, {
      from: `${database}.usage_records`,
      into: `${database}.${own.name}`,
      chosen: `_partition_id = '${month}' AND (log_offset = ${offsetOfNoLog} OR log_offset < ${boundOf(bounds, place)})`,
      settings: settingsOf(commentOf(place, owner)),
    }),
  )
  // On a cluster any one replica of each shard executes the following statements, with the parts that it has.
  for (const statement of syncReplicas(own, place)) await longStore.command(statement)
  const [found] = await store.query(`SELECT 1 AS found FROM ${database}.${own.name} LIMIT 1`)
  // ClickHouse refuses to replace a partition by nothing. There was nothing before either.
  if (found === undefined) return dropOwn(store, own.name, place)
  await longStore.command(
    `OPTIMIZE TABLE ${storedName(own, place)}${onCluster(place)} PARTITION (${month}, 1) FINAL
     SETTINGS max_execution_time = 0, log_comment = '${commentOf(place, owner)}'`,
  )
  await store.command(
    `ALTER TABLE ${storedName(table, place)}${onCluster(place)}
     REPLACE PARTITION (${month}, 1) FROM ${storedName(own, place)}`,
  )
  await dropOwn(store, own.name, place)
}

/** Returns the expression for the bound of a record's partition. Of a partition without a bound, the views saw all records. */
function boundOf(bounds: ReadonlyMap<string, string>, place: MigratedPlace): string {
  if (bounds.size === 0) return '0'
  const list = (texts: Iterable<string>): string =>
    `[${[...texts].map((text) => `toUInt64(${text})`).join(', ')}]`
  return `transform(${partitionKey(place)}, ${list(bounds.keys())}, ${list(bounds.values())}, toUInt64(0))`
}

/**
 * The months of a table are computed one after the other, so deduplicating their blocks could only drop equal ones. A cluster could also
 * insert what each server reads into the same server. Then the server does not know its shard, and not all rows are sharded alike.
 */
function settingsOf(comment: string): string {
  return `max_partitions_per_insert_block = 0, insert_deduplicate = 0, max_execution_time = 0,
      do_not_merge_across_partitions_select_final = 1, distributed_foreground_insert = 1, parallel_distributed_insert_select = 0,
      max_bytes_before_external_group_by = 1000000000, log_comment = '${comment}'`
}

/** Ends what earlier processes left running, and drops their tables. */
async function removeLeftovers(work: MigrationWork, tables: readonly FilledTable[]): Promise<void> {
  const { store, place } = work
  await killQueries(work, '')
  const names = await store.query<{ name: string }>(
    `SELECT name FROM system.tables WHERE database = {database:String} AND match(name, {pattern:String}) ORDER BY name`,
    {
      database: place.database,
      pattern: `^(${tables.map(({ table }) => table.name).join('|')})_fill_[0-9a-f]{16}$`,
    },
  )
  for (const { name } of names) await dropOwn(store, name, place)
}

async function dropOwn(
  store: MigrationWork['store'],
  name: string,
  place: MigratedPlace,
): Promise<void> {
  const { database, cluster } = place
  for (const each of cluster === undefined ? [name] : [name, `${name}_local`]) {
    await store.command(`DROP TABLE IF EXISTS ${database}.${each}${onCluster(place)} SYNC`)
  }
}
