import { pipeline } from 'node:stream/promises'
import type { TransactionSql } from 'postgres'
import type { Queryable } from '../database.ts'

/** What is in a table, so that two of them can be compared wherever they lie. */
export type TableSum = {
  readonly table: string
  readonly rows: bigint
  /** The same for the same rows, in whatever order they lie. */
  readonly sum: string
}

/** The tables of a pool's own schema, each after those that it refers to. */
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

/** The columns of a table that are written; the server makes the others from them. */
export async function listColumns(sql: Queryable, table: string): Promise<string[]> {
  const columns = await sql<{ name: string }[]>`
    select column_name as name from information_schema.columns
    where table_schema = current_schema and table_name = ${table} and is_generated = 'NEVER'
    order by ordinal_position`
  return columns.map(({ name }) => name)
}

/**
 * Adds all rows of a table to the one of the same name on another server, without keeping them in memory. `to` is a
 * transaction of the table's owner, who lets the server take rows as they are, without asking the table's policies and
 * without its triggers, which would do again what they did where the rows come from.
 */
export async function copyTable(from: Queryable, to: TransactionSql, table: string): Promise<void> {
  const names = from(await listColumns(from, table))
  const isHeld = await isForced(to, table)
  await to`alter table ${to(table)} disable trigger user`
  if (isHeld) await to`alter table ${to(table)} no force row level security`
  const target = await to`copy ${to(table)} (${names}) from stdin`.writable()
  const source = await from`copy ${from(table)} (${names}) to stdout`.readable()
  await pipeline(source, target)
  // What is asked of rows only at the end of a transaction is asked now: until then the table could not be altered.
  await to`set constraints all immediate`
  if (isHeld) await to`alter table ${to(table)} force row level security`
  await to`alter table ${to(table)} enable trigger user`
  // As long as it knows nothing of what is there, the server reads all rows of a provider to find one of them.
  await to`analyze ${to(table)}`
}

async function isForced(sql: Queryable, table: string): Promise<boolean> {
  const [found] = await sql<{ is_forced: boolean }[]>`
    select relforcerowsecurity as is_forced from pg_class
    where relname = ${table} and relnamespace = current_schema::regnamespace`
  return found?.is_forced ?? false
}

/** Lets the sequences of the pool's schema go on from where those of the same name on another server are. */
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
