import postgres from 'postgres'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { copyTable } from '../src/database/postgres/copy-tables.ts'
import { startTestDatabase, type TestDatabase } from '../src/testing/embedded-servers.ts'

let source: TestDatabase
let target: TestDatabase

beforeAll(async () => {
  ;[source, target] = await Promise.all([startTestDatabase(), startTestDatabase()])
})

afterAll(async () => {
  await Promise.all([source.stop(), target.stop()])
})

it('leaves the source connection usable, however large the table was', async () => {
  // One connection, so that the next query uses the connection that was read from.
  const from = postgres(source.url, { max: 1 })
  const to = postgres(target.url, { max: 1 })
  try {
    for (const rows of [0, 1, 10, 60, 250, 1_000, 4_000]) {
      for (const sql of [from, to]) await sql`create table notes (id int, note text)`
      await from`insert into notes select id, repeat('x', 1000) from generate_series(1, ${rows}) id`
      await to.begin((sql) => copyTable(from, sql, 'notes'))
      expect(await from`select count(*)::int as rows from notes`).toEqual([{ rows }])
      expect(await to`select count(*)::int as rows from notes`).toEqual([{ rows }])
      for (const sql of [from, to]) await sql`drop table notes`
    }
  } finally {
    await Promise.all([from.end({ timeout: 1 }), to.end({ timeout: 1 })])
  }
})

it('copies rows with references that are checked at the end of the transaction', async () => {
  const from = postgres(source.url, { max: 1 })
  const to = postgres(target.url, { max: 1 })
  try {
    for (const sql of [from, to]) {
      await sql`create table books (id int primary key)`
      await sql`
        create table pages (book int references books (id) deferrable initially deferred)`
      await sql`alter table pages enable row level security, force row level security`
    }
    await from`insert into books values (1)`
    await from`insert into pages values (1), (1)`
    await to.begin(async (sql) => {
      for (const table of ['books', 'pages']) await copyTable(from, sql, table)
    })
    expect(await to`select count(*)::int as rows from pages`).toEqual([{ rows: 2 }])
    const strays = to.begin(async (sql) => {
      await sql`delete from pages`
      await sql`delete from books`
      await copyTable(from, sql, 'pages')
    })
    await expect(strays).rejects.toMatchObject({ code: '23503' })
  } finally {
    await Promise.all([from.end({ timeout: 1 }), to.end({ timeout: 1 })])
  }
})
