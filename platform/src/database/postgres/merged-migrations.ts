import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TransactionSql } from 'postgres'

/** File names: of the migrations that were merged, and of those that they were merged into. */
type MergedNames = { readonly replaced: readonly string[]; readonly by: readonly string[] }

/**
 * Takes over a schema that was created by migrations which were later merged into fewer files. `merged/names.json` in the folder
 * lists both, and `merged/changes.sql` changes the tables to what the merged migrations create. The caller's transaction contains
 * all of it, so a crash leaves the schema either taken over or untouched. A folder without `merged` has no merged migrations.
 */
export async function adoptMergedMigrations(
  sql: TransactionSql,
  schema: string,
  folder: string,
): Promise<void> {
  const merged = await readMerged(folder)
  if (merged === undefined) return
  const table = sql(schema)
  const rows = await sql<{ name: string }[]>`SELECT name FROM ${table}.schema_migrations`
  const applied = new Set(rows.map(({ name }) => name))
  const missing = merged.replaced.filter((name) => !applied.has(name))
  if (missing.length === merged.replaced.length) return
  if (missing.length > 0) {
    throw new Error(
      `The PostgreSQL schema ${schema} was written by a development version that lacks ${missing.join(', ')}. ` +
        `Start the commit before the migrations were merged once (docs/operations.md, Upgrades), then this version.`,
    )
  }
  await sql`SELECT set_config('search_path', ${schema}, true)`
  await sql.unsafe(await readFile(join(folder, 'merged/changes.sql'), 'utf8'))
  await sql`DELETE FROM ${table}.schema_migrations WHERE name IN ${sql(merged.replaced)}`
  for (const name of merged.by) {
    await sql`INSERT INTO ${table}.schema_migrations (name) VALUES (${name})`
  }
}

async function readMerged(folder: string): Promise<MergedNames | undefined> {
  try {
    return JSON.parse(await readFile(join(folder, 'merged/names.json'), 'utf8')) as MergedNames
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
