import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import postgres, { type Sql, type TransactionSql } from 'postgres'
import { refuseNewer } from '../newer-schema-error.ts'
import { adoptMergedMigrations } from './merged-migrations.ts'
import { isolateTables } from './isolate-tables.ts'
import { ensureRoles } from './roles.ts'

export type PostgresMigrationOptions = {
  /** URL with the login that owns the tables. */
  readonly url: string
  /** Contains the folders `control` and `environment` with numbered SQL files. */
  readonly folder: string
}

const folderOfSchema = { control: 'control', sandbox: 'environment', live: 'environment' } as const

/** One lock for all migrations, so that two processes never migrate at once, in any schema. */
const advisoryLock = 7_065_551_001

/**
 * Applies all pending migrations in all schemas, and isolates providers from each other in new tables. Each file runs in one
 * transaction together with the row that records it, so after a crash it is either applied or not. Several processes may call it at
 * once: all but the first find nothing to do.
 */
export async function migratePostgres(options: PostgresMigrationOptions): Promise<void> {
  const sql = postgres(options.url, {
    max: 1,
    connect_timeout: 10,
    onnotice: () => {},
    connection: { application_name: 'tollgate migrations' },
  })
  try {
    await ensureRoles(sql)
    const schemas = Object.entries(folderOfSchema).map(
      ([schema, folder]) => [schema, join(options.folder, folder)] as const,
    )
    // All in one transaction: if one schema is refused, the version before must still be able to start with the others.
    await locked(sql, async (transaction) => {
      for (const [schema, folder] of schemas) {
        await createSchema(transaction, schema)
        await adoptMergedMigrations(transaction, schema, folder)
      }
    })
    for (const [schema, folder] of schemas) await migrateSchema(sql, schema, folder)
  } finally {
    await sql.end({ timeout: 10 })
  }
}

async function createSchema(sql: TransactionSql, schema: string): Promise<void> {
  await sql`CREATE SCHEMA IF NOT EXISTS ${sql(schema)}`
  await sql`
    CREATE TABLE IF NOT EXISTS ${sql(schema)}.schema_migrations (
      name text PRIMARY KEY,
      applied_at timestamptz NOT NULL DEFAULT now()
    )`
}

async function migrateSchema(sql: Sql, schema: string, folder: string): Promise<void> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort()
  const applied = await appliedIn(sql, schema)
  refuseNewer(`PostgreSQL schema ${schema}`, applied, names)
  if (names.some((name) => !applied.includes(name))) await applyPending(sql, schema, folder, names)
  await locked(sql, (transaction) => isolateTables(transaction, schema))
}

async function applyPending(
  sql: Sql,
  schema: string,
  folder: string,
  names: readonly string[],
): Promise<void> {
  // Imported here, because most starts have nothing to apply, and loading it takes 0.15 s.
  const { Umzug } = await import('umzug')
  const umzug = new Umzug({
    migrations: names.map((name) => ({
      name,
      up: async () => apply(sql, schema, name, await readFile(join(folder, name), 'utf8')),
    })),
    storage: {
      executed: () => appliedIn(sql, schema),
      // `apply` records the migration in the migration's own transaction.
      logMigration: () => Promise.resolve(),
      unlogMigration: () => Promise.reject(new Error('migrations only go forward')),
    },
    logger: undefined,
  })
  await umzug.up()
}

async function apply(sql: Sql, schema: string, name: string, statements: string): Promise<void> {
  await locked(sql, async (transaction) => {
    const table = sql(schema)
    const applied = await transaction`SELECT 1 FROM ${table}.schema_migrations WHERE name = ${name}`
    if (applied.length > 0) return
    await transaction`SELECT set_config('search_path', ${schema}, true)`
    await transaction.unsafe(statements)
    await transaction`INSERT INTO ${table}.schema_migrations (name) VALUES (${name})`
  })
}

/**
 * Runs a transaction under the migration lock. The lock ends with the transaction, so neither a crash nor a lost connection leaves
 * it behind.
 */
async function locked(
  sql: Sql,
  work: (transaction: TransactionSql) => Promise<void>,
): Promise<void> {
  await sql.begin(async (transaction) => {
    await transaction`SELECT pg_advisory_xact_lock(${advisoryLock})`
    await work(transaction)
  })
}

async function appliedIn(sql: Sql, schema: string): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    SELECT name FROM ${sql(schema)}.schema_migrations ORDER BY name`
  return rows.map(({ name }) => name)
}
