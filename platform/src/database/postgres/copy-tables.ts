import { pipeline } from 'node:stream/promises'
import type { TransactionSql } from 'postgres'
import type { Queryable } from '../database.ts'

/** A checksum of a table, to compare two tables on different servers. */
export type TableSum = {
  readonly table: string
  readonly rows: bigint
  /** Sum over the rows; it does not depend on their order. */
  readonly sum: string
}

/** Returns the tables of the pool's schema, each after the tables that it references. */
export async function listTables(sql: Queryable): Promise<string[]> {
  const tables = await sql<{ name: string }[]>`
    select tablename as name from pg_tables where schemaname = current_schema order by tablename`
  const references = await sql<{ name: string; target: string }[]>`
    select from_table.relname as name, to_table.relname as target
    from pg_constraint
    join pg_class from_table on from_table.oid = conrelid
    join pg_class to_table on to_table.oid = confrelid
    where contype = 'f' and conrelid <> confrelid
      and connamespace = current_schema::regnamespace`
  const ordered: string[] = []
  const visit = (name: string): void => {
    if (ordered.includes(name)) return
    for (const each of references) if (each.name === name) visit(each.target)
    ordered.push(name)
  }
  for (const { name } of tables) visit(name)
  return ordered
}

/** Returns the columns of a table, without generated ones. */
export async function listColumns(sql: Queryable, table: string): Promise<string[]> {
  const columns = await sql<{ name: string }[]>`
    select column_name as name from information_schema.columns
    where table_schema = current_schema and table_name = ${table} and is_generated = 'NEVER'
    order by ordinal_position`
  return columns.map(({ name }) => name)
}

/**
 * Copies all rows of a table to the table of the same name on another server, as a stream. `to` is a transaction of the table's
 * owner. Policies and triggers are disabled meanwhile: the rows already contain what the triggers did at the source.
 */
export async function copyTable(from: Queryable, to: TransactionSql, table: string): Promise<void> {
  const names = from(await listColumns(from, table))
  const isHeld = await isForced(to, table)
  await to`alter table ${to(table)} disable trigger user`
  if (isHeld) await to`alter table ${to(table)} no force row level security`
  const target = await to`copy ${to(table)} (${names}) from stdin`.writable()
  const source = await from`copy ${from(table)} (${names}) to stdout`.readable()
  await pipeline(source, target)
  // Deferred constraints are checked now, because a table with pending checks cannot be altered.
  await to`set constraints all immediate`
  if (isHeld) await to`alter table ${to(table)} force row level security`
  await to`alter table ${to(table)} enable trigger user`
  // Without statistics PostgreSQL scans all rows of a provider to find one.
  await to`analyze ${to(table)}`
}

async function isForced(sql: Queryable, table: string): Promise<boolean> {
  const [found] = await sql<{ is_forced: boolean }[]>`
    select relforcerowsecurity as is_forced from pg_class
    where relname = ${table} and relnamespace = current_schema::regnamespace`
  return found?.is_forced ?? false
}

/** Sets the sequences of the pool's schema to the values of the same sequences on another server. */
export async function copySequences(from: Queryable, to: Queryable): Promise<void> {
  const sequences = await from<{ name: string; last: string }[]>`
    select sequencename as name, last_value::text as last from pg_sequences
    where schemaname = current_schema and last_value is not null`
  for (const { name, last } of sequences) {
    await to`select setval(format('%I.%I', current_schema, ${name}::text)::regclass, ${last}::bigint)`
  }
}

export async function sumTable(sql: Queryable, table: string): Promise<TableSum> {
  const [found] = await sql<{ rows: bigint; sum: string }[]>`
    select count(*) as rows,
      coalesce(sum(('x' || left(md5(row::text), 15))::bit(60)::bigint), 0)::text as sum
    from ${sql(table)} as row`
  return { table, ...found! }
}

export async function isEmptyTable(sql: Queryable, table: string): Promise<boolean> {
  const [found] = await sql<{ isEmpty: boolean }[]>`
    select not exists (select from ${sql(table)}) as "isEmpty"`
  return found!.isEmpty
}
