import {
  startTestUsageStore,
  type TestUsageStore,
} from '@tollgate/platform/testing/embedded-servers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { migrateUsageTables, usageMigrations } from '../src/clickhouse/migrate.ts'

let clickhouse: TestUsageStore
beforeAll(async () => (clickhouse = await startTestUsageStore()))
afterAll(() => clickhouse.stop())

const all = usageMigrations.flatMap(({ statements }) =>
  statements({ database: 'sandbox', cluster: undefined }),
)

async function schema(): Promise<unknown[]> {
  return await clickhouse.store.query(
    `SELECT database, name, create_table_query FROM system.tables
     WHERE database IN ('sandbox', 'live') ORDER BY database, name`,
  )
}

async function applied(): Promise<unknown[]> {
  return await clickhouse.store.query(
    'SELECT name, count() AS times FROM sandbox.schema_migrations GROUP BY name ORDER BY name',
  )
}

async function dropAll(): Promise<void> {
  for (const database of ['sandbox', 'live']) {
    await clickhouse.store.command(`DROP DATABASE IF EXISTS ${database}`)
  }
}

const once = usageMigrations.map(({ name }) => ({ name, times: '1' }))

describe('the migrations of the usage tables', () => {
  it('create the same tables, wherever an earlier start was killed', async () => {
    await migrateUsageTables(clickhouse.connection)
    const whole = await schema()
    expect(whole).toHaveLength(52)
    // After a kill, the first statements are executed, and at most the last of their migrations is not recorded. The tables of `live`
    // stay, because each database is migrated on its own.
    for (let done = 0; done <= all.length; done += 1) {
      await clickhouse.store.command('DROP DATABASE sandbox')
      await clickhouse.store.command('CREATE DATABASE sandbox')
      for (const statement of all.slice(0, done)) await clickhouse.store.command(statement)
      await migrateUsageTables(clickhouse.connection)
      expect(await schema()).toEqual(whole)
      expect(await applied()).toEqual(once)
    }
  }, 300_000)

  it('are recorded and not executed again', async () => {
    await migrateUsageTables(clickhouse.connection)
    await clickhouse.store.command('DROP TABLE sandbox.unreadable_records')
    await migrateUsageTables(clickhouse.connection)
    const [found] = await clickhouse.store.query<{ found: number }>(
      'EXISTS TABLE sandbox.unreadable_records',
    )
    expect(found).toEqual({ result: 0 })
  })

  it('keep the sums of an existing roll-up and continue with it', async () => {
    await dropAll()
    const { store } = clickhouse
    await store.command('CREATE DATABASE sandbox')
    const signed = all.findIndex((statement) => statement.includes('records Int64'))
    for (const statement of all.slice(0, signed)) await store.command(statement)
    const use = (id: string): Promise<void> =>
      store.command(
        `INSERT INTO sandbox.usage_records (id, customer_ref, value, timestamp, outcome)
         VALUES ('${id}', 'cus', 1.5, '2026-03-01 00:00:00', 'success')`,
      )
    await use('a')
    await migrateUsageTables(clickhouse.connection)
    await use('b')
    await store.command(
      `INSERT INTO sandbox.usage_by_hour (customer_ref, hour, value, records)
       VALUES ('cus', '2026-03-01 00:00:00', -0.5, -1)`,
    )
    await store.command('OPTIMIZE TABLE sandbox.usage_by_hour FINAL')
    expect(
      await store.query('SELECT customer_ref, value, records FROM sandbox.usage_by_hour'),
    ).toEqual([{ customer_ref: 'cus', value: '2.5', records: '1' }])
  })

  it('may be started by several sinks at once', async () => {
    await dropAll()
    await Promise.all(Array.from({ length: 3 }, () => migrateUsageTables(clickhouse.connection)))
    expect(await schema()).toHaveLength(52)
    expect(await applied()).toEqual(once)
  })
})
