import type { Database } from '@tollgate/platform/database/database'
import {
  databaseAddresses,
  ownerAddress,
  type databaseOwnerSettings,
  type databaseSettings,
} from '@tollgate/platform/database/postgres/database-settings'
import { migratePostgres } from '@tollgate/platform/database/postgres/migrations'
import { createPostgresDatabase } from '@tollgate/platform/database/postgres/postgres-database'
import type { SettingValues } from '@tollgate/platform/config/settings'
import { migrationsFolder } from './migrations-folder.ts'
import { refuseUnfinishedMove } from './refuse-unfinished-move.ts'

type DatabaseConfig = SettingValues<typeof databaseSettings & typeof databaseOwnerSettings> & {
  readonly databaseConnectionsMax: number
}

/**
 * Opens the database of a service. The first service that starts migrates the tables to this version, as their owner. Rejects while
 * a move of another installation into this database is unfinished, because that installation still has the keys and bills the
 * usage.
 */
export async function openDatabase(config: DatabaseConfig): Promise<Database> {
  await migratePostgres({ url: ownerAddress(config), folder: migrationsFolder })
  const database = createPostgresDatabase({
    ...databaseAddresses(config),
    poolMax: config.databaseConnectionsMax,
  })
  try {
    await database.ping()
    await refuseUnfinishedMove(database.control)
    return database
  } catch (error) {
    await database.close()
    throw error
  }
}
