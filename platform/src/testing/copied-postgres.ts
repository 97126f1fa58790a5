import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Database } from '../database/database.ts'
import {
  startEmbeddedPostgres,
  type EmbeddedPostgres,
} from '../database/embedded/embedded-postgres.ts'
import { createDatabase } from '../database/postgres/create-database.ts'
import { createPostgresDatabase } from '../database/postgres/postgres-database.ts'
import { migratePostgres } from '../database/postgres/migrations.ts'

/** Names the folder of a test run with the original data folders that its servers copy, and with servers that several files use. */
export const copiesVariable = 'TOLLGATE_TEST_POSTGRES_COPIES'

/** The migrated database on such a server. Do not connect to it, because it is the template of others. */
const migratedName = 'migrated'

/** Prefix of the names of copies of the migrated database. */
export const copyPrefix = 'test_'

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

/** Creates a copy of the migrated database. PostgreSQL copies its files, which is faster than its default of copying pages. */
export async function copyMigrated(serverUrl: string, name: string): Promise<void> {
  const database = openAsOwner(serverUrl)
  try {
    await database.control`SET file_copy_method = clone`
    await database.control.unsafe(
      `CREATE DATABASE ${name} TEMPLATE ${migratedName} STRATEGY file_copy`,
    )
  } finally {
    await database.close()
  }
}

/** Drops all copies of the migrated database, and ends the connections that tests left open. */
export async function dropCopies({ url }: EmbeddedPostgres): Promise<void> {
  const database = openAsOwner(url)
  try {
    const copies = await database.control<{ name: string }[]>`
      SELECT datname AS name FROM pg_database WHERE starts_with(datname, ${copyPrefix})`
    for (const { name } of copies) {
      await database.control.unsafe(`DROP DATABASE ${name} WITH (FORCE)`)
    }
  } finally {
    await database.close()
  }
}

/** Opens one connection, so that a session setting applies to the next statement. */
function openAsOwner(url: string): Database {
  return createPostgresDatabase({ url, isOwner: true, poolMax: 1, statementTimeoutMs: 60_000 })
}

function start(folder: string): Promise<EmbeddedPostgres> {
  return startEmbeddedPostgres({ folder, port: 0, isDurable: false })
}
