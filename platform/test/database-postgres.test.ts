import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { NewerSchemaError } from '../src/database/newer-schema-error.ts'
import { migratePostgres } from '../src/database/postgres/migrations.ts'
import { createPostgresDatabase } from '../src/database/postgres/postgres-database.ts'
import { startTestDatabase, type TestDatabase } from '../src/testing/embedded-servers.ts'

let keeper: TestDatabase
let test: TestDatabase
let folder: string

beforeAll(async () => {
  keeper = await startTestDatabase()
})

afterAll(async () => {
  await keeper.stop()
})

beforeEach(async () => {
  test = await startTestDatabase()
  folder = await mkdtemp(join(tmpdir(), 'tollgate-migrations-'))
  await mkdir(join(folder, 'control'))
  await mkdir(join(folder, 'environment'))
  await migration('control/0001_providers.sql', 'CREATE TABLE providers (id bigint PRIMARY KEY);')
  await migration(
    'environment/0001_products.sql',
    `CREATE TABLE products (id bigint PRIMARY KEY, name text NOT NULL);
     INSERT INTO products VALUES (1, 'first; it''s');`,
  )
  return async () => {
    await test.stop()
    await rm(folder, { recursive: true, force: true })
  }
})

async function migration(path: string, text: string): Promise<void> {
  await writeFile(join(folder, path), text)
}

const migrate = (): Promise<void> => migratePostgres({ url: test.url, folder })

describe('migrations of PostgreSQL', () => {
  it('creates the same tables in both environments, and none of them in control', async () => {
    await migrate()
    const { database } = test
    await database.in('sandbox')`INSERT INTO products VALUES (2, 'only in the sandbox')`
    expect(await database.in('sandbox')`SELECT id FROM products ORDER BY id`).toEqual([
      { id: 1n },
      { id: 2n },
    ])
    expect(await database.in('live')`SELECT id FROM products`).toEqual([{ id: 1n }])
    await expect(database.control`SELECT * FROM products`).rejects.toThrow(/does not exist/)
    await expect(database.in('live')`SELECT * FROM providers`).rejects.toThrow(/does not exist/)
  })

  it('runs each file once, even if many processes start together', async () => {
    await Promise.all(Array.from({ length: 6 }, migrate))
    await migration('environment/0002_more.sql', 'INSERT INTO products VALUES (7, $$seven$$);')
    await Promise.all(Array.from({ length: 6 }, migrate))
    expect(
      await test.database.in('live')`SELECT name FROM schema_migrations ORDER BY name`,
    ).toEqual([{ name: '0001_products.sql' }, { name: '0002_more.sql' }])
    expect(await test.database.in('live')`SELECT id FROM products ORDER BY id`).toHaveLength(2)
  })

  it('rolls back a failing file, and continues with it when it is fixed', async () => {
    await migration(
      'environment/0002_broken.sql',
      'CREATE TABLE half (n int); SELECT * FROM no_such_table;',
    )
    await expect(migrate()).rejects.toThrow(/no_such_table/)
    const sandbox = test.database.in('sandbox')
    await expect(sandbox`SELECT * FROM half`).rejects.toThrow(/does not exist/)
    await migration('environment/0002_broken.sql', 'CREATE TABLE half (n int);')
    await migrate()
    expect(await test.database.in('live')`SELECT * FROM half`).toEqual([])
  })

  it('refuses a database of a newer release with one sentence', async () => {
    await migration('environment/0002_future.sql', 'CREATE TABLE future (n int);')
    await migrate()
    await rm(join(folder, 'environment/0002_future.sql'))
    await expect(migrate()).rejects.toThrow(NewerSchemaError)
    await expect(migrate()).rejects.toThrow(
      'The PostgreSQL schema sandbox was written by a newer version of Tollgate (it has 0002_future.sql): start that version or a later one.',
    )
  })
})

describe('the PostgreSQL database', () => {
  beforeEach(migrate)

  it('returns 64-bit numbers as bigint', async () => {
    const large = 2n ** 62n + 1n
    await test.database.control`INSERT INTO providers VALUES (${large.toString()})`
    expect(await test.database.control`SELECT id, count(*) OVER () AS n FROM providers`).toEqual([
      { id: large, n: 1n },
    ])
  })

  it('keeps column names unchanged', async () => {
    expect(await test.database.control`SELECT 1 AS created_at`).toEqual([{ created_at: 1 }])
  })

  it('has exactly two environments', () => {
    expect(() => test.database.in('control')).toThrow('there is no environment control')
    expect(() => test.database.in(randomBytes(2).toString('hex'))).toThrow(/no environment/)
  })

  it('ends statements, lock waits and idle transactions that take too long', async () => {
    const hasty = createPostgresDatabase({
      url: test.url,
      statementTimeoutMs: 200,
      lockTimeoutMs: 50,
      idleInTransactionTimeoutMs: 200,
    })
    await expect(hasty.control`SELECT pg_sleep(5)`).rejects.toMatchObject({ code: '57014' })
    await test.database.control.begin(async (transaction) => {
      await transaction`LOCK TABLE providers`
      await expect(hasty.control`SELECT * FROM providers`).rejects.toMatchObject({ code: '55P03' })
    })
    await hasty.close()
  })

  it('rejects a ping if the server is unavailable', async () => {
    const nowhere = createPostgresDatabase({
      url: 'postgres://tollgate:x@127.0.0.1:1/tollgate',
      connectTimeoutSeconds: 2,
    })
    await expect(nowhere.ping()).rejects.toThrow(/ECONNREFUSED/)
    await nowhere.close()
  })
})
