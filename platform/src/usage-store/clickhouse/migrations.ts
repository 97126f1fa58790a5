import type { UmzugStorage } from 'umzug'
import { refuseNewer } from '../../database/newer-schema-error.ts'
import type { Column, UsageStore } from '../usage-store.ts'
import { createClickHouseUsageStore, type ClickHouseConnection } from './clickhouse-usage-store.ts'
import { onCluster, type MigratedPlace } from './migrated-place.ts'
import { requireSameTopology, versionsTable } from './versions-table.ts'

export type ClickHouseMigration = {
  /** Sorts in the order of application, for example `0001-usage-records`. */
  readonly name: string
  /**
   * ClickHouse has no transactions, so after a crash all statements run again: each must be repeatable (IF NOT EXISTS). Table names
   * must include the database, because each server of a cluster resolves unqualified names in its own default database.
   */
  readonly statements: (place: MigratedPlace) => readonly string[]
  /**
   * Work on stored rows after the statements, which may take hours. A crash at any point repeats it, and several processes may do it
   * at once.
   */
  readonly work?: (work: MigrationWork) => Promise<void>
}

export type MigrationWork = {
  readonly place: MigratedPlace
  readonly store: UsageStore
  /** The same store with the timeout for statements that read or write all rows. */
  readonly longStore: UsageStore
  readonly report: (fields: Readonly<Record<string, unknown>>, message: string) => void
  /** Aborted when the process stops. */
  readonly signal: AbortSignal
}

export type MigrationOptions = {
  /** Milliseconds that one statement on all rows of a month may take. */
  readonly longTimeoutMs?: number
  readonly report?: MigrationWork['report']
  readonly signal?: AbortSignal
}

const defaultLongTimeoutMs = 14_400_000

/**
 * Creates the database if necessary and applies all pending migrations. Processes that start together may run the same repeatable
 * statements twice; the versions table tolerates duplicate entries. On a cluster every server must answer: an unavailable server
 * blocks the migration until it is back or removed from the cluster.
 */
export async function migrateClickHouse(
  connection: ClickHouseConnection,
  database: string,
  migrations: readonly ClickHouseMigration[],
  options: MigrationOptions = {},
): Promise<void> {
  const place = { database, cluster: connection.cluster?.name }
  await createDatabase(connection, place)
  const store = createClickHouseUsageStore({ ...connection, database })
  try {
    await requireSameTopology(store, place)
    await store.command(versionsTable(place))
    const storage = versionsIn(store)
    const names = migrations.map(({ name }) => name)
    const applied = await storage.executed()
    refuseNewer(`ClickHouse database ${database}`, applied, names)
    if (names.every((name) => applied.includes(name))) return
    // Imported here, because most starts have nothing to apply, and loading it takes 0.15 s.
    const { Umzug } = await import('umzug')
    const umzug = new Umzug({
      migrations: migrations.map(({ name, statements, work }) => ({
        name,
        up: async () => {
          for (const statement of statements(place)) await store.command(statement)
          if (work !== undefined) await runWork(work, { connection, store, place }, options)
        },
      })),
      storage,
      logger: undefined,
    })
    await umzug.up()
  } finally {
    await store.close()
  }
}

async function runWork(
  work: NonNullable<ClickHouseMigration['work']>,
  {
    connection,
    ...at
  }: Pick<MigrationWork, 'store' | 'place'> & { readonly connection: ClickHouseConnection },
  { longTimeoutMs = defaultLongTimeoutMs, report, signal }: MigrationOptions,
): Promise<void> {
  const { database } = at.place
  const longStore = createClickHouseUsageStore({
    ...connection,
    database,
    requestTimeoutMs: longTimeoutMs,
  })
  try {
    await work({
      ...at,
      longStore,
      report: report ?? (() => undefined),
      signal: signal ?? new AbortController().signal,
    })
  } finally {
    await longStore.close()
  }
}

async function createDatabase(
  connection: ClickHouseConnection,
  place: MigratedPlace,
): Promise<void> {
  const { database: _, ...outside } = connection
  const store = createClickHouseUsageStore(outside)
  try {
    await store.command(`CREATE DATABASE IF NOT EXISTS \`${place.database}\`${onCluster(place)}`)
  } finally {
    await store.close()
  }
}

const nameColumn: Column<string> = { name: 'name', type: 'String', value: (name) => name }

function versionsIn(store: UsageStore) {
  return {
    executed: async () => {
      const rows = await store.query<{ name: string }>(
        'SELECT DISTINCT name FROM schema_migrations ORDER BY name',
      )
      return rows.map(({ name }) => name)
    },
    // Recorded after the statements, so a crash in between repeats them.
    logMigration: async ({ name }) => {
      await store.insert('schema_migrations', [nameColumn], [name], name)
    },
    unlogMigration: () => Promise.reject(new Error('migrations only go forward')),
  } satisfies UmzugStorage
}
