import type { Database } from '@tollgate/platform/database/database'
import { isEmptyTable, listTables } from '@tollgate/platform/database/postgres/copy-tables'
import type { EventLog } from '@tollgate/platform/event-log/event-log'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import { environments } from '@tollgate/schemas/environment'
import { publicationsStartKey } from '@tollgate/schemas/hot-state/publications'
import { usageTopic } from '@tollgate/schemas/topics'
import { StartRefusedError } from '../../standalone/start-refused.ts'
import { poolOf, schemas } from '../verify/database-sums.ts'

/** Throws if the database contains rows of an installation. The tables may be missing. */
export async function requireEmptyDatabase(database: Database): Promise<void> {
  for (const schema of schemas) {
    const sql = poolOf(database, schema)
    for (const table of await listTables(sql)) {
      if (table === 'schema_migrations' || (await isEmptyTable(sql, table))) continue
      throw engineInUse(`PostgreSQL has rows in ${schema}.${table}`)
    }
  }
}

export async function requireEmptyUsageStore(usageStore: UsageStore): Promise<void> {
  const tables = await usageStore.query<{ table: string }>(
    `SELECT concat(database, '.', name) AS table FROM system.tables
     WHERE database IN ('sandbox', 'live')
       AND name IN ('usage_records', 'usage_by_hour', 'unreadable_records')`,
  )
  for (const { table } of tables) {
    const [found] = await usageStore.query<{ rows: string }>(
      `SELECT count() AS rows FROM (SELECT 1 FROM ${table} LIMIT 1)`,
    )
    if (Number(found!.rows) > 0) throw engineInUse(`ClickHouse has rows in ${table}`)
  }
}

export async function requireEmptyLog(log: EventLog): Promise<void> {
  for (const topic of environments.map(usageTopic)) {
    for (let partition = 0; partition < log.partitionCount(topic); partition += 1) {
      if ((await log.head(topic, partition)) > 0) {
        throw engineInUse(`Kafka has records in ${topic}/${partition}`)
      }
    }
  }
}

/**
 * Throws if Redis contains data of an installation. The move writes nothing to Redis: the services rebuild all of it from the other
 * stores.
 */
export async function requireEmptyHotState(
  hotState: HotState,
  partitionCount: (topic: string) => number,
): Promise<void> {
  if ((await hotState.readDocument(publicationsStartKey)) !== undefined) {
    throw engineInUse('Redis has the keys and customers of an installation')
  }
  for (const environment of environments) {
    for (let partition = 0; partition < partitionCount(usageTopic(environment)); partition += 1) {
      if ((await hotState.appliedOffset(environment, partition)) > 0) {
        throw engineInUse('Redis has the counts of an installation')
      }
    }
  }
}

function engineInUse(what: string): StartRefusedError {
  return new StartRefusedError(
    `The engines are in use: ${what}. A move never overwrites data: name empty engines, or empty these yourself.`,
  )
}
