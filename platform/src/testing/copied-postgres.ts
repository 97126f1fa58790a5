import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import {
  startEmbeddedPostgres,
  type EmbeddedPostgres,
} from '../database/embedded/embedded-postgres.ts'
import { createDatabase } from '../database/postgres/create-database.ts'
import { migratePostgres } from '../database/postgres/migrations.ts'

/** Names the folder of a test run with the original data folders that its servers copy. */
export const copiesVariable = 'TOLLGATE_TEST_POSTGRES_COPIES'

/** The migrated database on such a server. Do not connect to it, because it is the template of others. */
export const migratedName = 'migrated'

/**
 * Starts a PostgreSQL in the folder, with a migrated database if migrations are given. Creating and migrating one takes seconds of
 * CPU time, and copying it a fraction of that: the first test that needs it creates it for the run.
 */
export async function startCopiedPostgres(
  folder: string,
  migrationsFolder: string | undefined,
): Promise<EmbeddedPostgres> {
  const copies = process.env[copiesVariable]
  if (copies === undefined) return startMigrated(folder, migrationsFolder)
  const original = join(copies, await nameOfOriginal(migrationsFolder))
  if (!existsSync(original)) await makeOriginal(original, copies, migrationsFolder)
  // `-a` keeps the owner of the files: PostgreSQL runs as the owner of its data folder.
  await promisify(execFile)('cp', ['-a', `${original}/.`, folder])
  return start(folder)
}

/** Different migrations have a different original. */
async function nameOfOriginal(migrationsFolder: string | undefined): Promise<string> {
  if (migrationsFolder === undefined) return 'empty'
  const files = await readdir(migrationsFolder, { recursive: true })
  const digest = createHash('sha256').update([migrationsFolder, ...files.sort()].join('\n'))
  return `migrated-${digest.digest('hex').slice(0, 12)}`
}

/** If several processes create it at the same time, the first one is used. */
async function makeOriginal(
  original: string,
  copies: string,
  migrationsFolder: string | undefined,
): Promise<void> {
  const unfinished = await mkdtemp(join(copies, 'unfinished-'))
  const server = await startMigrated(unfinished, migrationsFolder)
  await server.stop()
  await rename(unfinished, original).catch(async (error: unknown) => {
    if (!existsSync(original)) throw error
    await rm(unfinished, { recursive: true, force: true })
  })
}

async function startMigrated(
  folder: string,
  migrationsFolder: string | undefined,
): Promise<EmbeddedPostgres> {
  const server = await start(folder)
  if (migrationsFolder === undefined) return server
  try {
    await createDatabase(server.url, migratedName)
    const url = server.url.replace(/[^/]*$/, migratedName)
    await migratePostgres({ url, folder: migrationsFolder })
    return server
  } catch (error) {
    await server.stop()
    throw error
  }
}

function start(folder: string): Promise<EmbeddedPostgres> {
  return startEmbeddedPostgres({ folder, port: 0, isDurable: false })
}
