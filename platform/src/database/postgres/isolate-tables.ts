import type { TransactionSql } from 'postgres'
import { providerSetting } from './provider-rows.ts'
import { jobsRole, requestsRole } from './roles.ts'

/**
 * Enables row level security on every table of the schema that has a column `provider_id`: requests see only rows of the provider
 * that their transaction names, and none without a name. It runs after each migration, so new tables are isolated automatically.
 * Tables for which a migration has enabled row level security itself are not changed.
 *
 * FORCE applies the policies to the owner as well; as a member of the jobs' role the owner sees all rows in a migration.
 */
export async function isolateTables(sql: TransactionSql, schema: string): Promise<void> {
  const both = `${requestsRole}, ${jobsRole}`
  await sql.unsafe(`grant usage on schema ${schema} to ${both}`)
  for (const { name, is_of_providers: isOfProviders } of await listOpenTables(sql, schema)) {
    const table = `${schema}.${name}`
    if (!isOfProviders) {
      await sql.unsafe(`grant ${allowedWithoutProvider(name)} on ${table} to ${jobsRole}`)
      continue
    }
    await sql.unsafe(`
      alter table ${table} enable row level security, force row level security;
      create policy own_provider on ${table} to ${requestsRole} using (${isOwn}) with check (${isOwn});
      create policy all_providers on ${table} to ${jobsRole} using (true) with check (true);
      grant select, insert, update, delete on ${table} to ${both}`)
  }
  await sql.unsafe(`grant usage on all sequences in schema ${schema} to ${both}`)
}

/** The setting is empty if an earlier transaction of the connection had set it, and null if none has. Neither is a provider. */
const isOwn = `provider_id = nullif(current_setting('${providerSetting}', true), '')`

function allowedWithoutProvider(name: string): string {
  return name === 'schema_migrations' ? 'select' : 'select, insert, update, delete'
}

type OpenTable = { readonly name: string; readonly is_of_providers: boolean }

async function listOpenTables(sql: TransactionSql, schema: string): Promise<OpenTable[]> {
  return sql<OpenTable[]>`
    select quote_ident(relname) as name, exists (
      select from pg_attribute
      where attrelid = pg_class.oid and attname = 'provider_id' and not attisdropped
    ) as is_of_providers
    from pg_class
    where relnamespace = ${schema}::regnamespace and relkind in ('r', 'p') and not relrowsecurity
    order by relname`
}
