import { expect, it } from 'vitest'
import { startTestDatabase, startTestUsageStore } from '../src/testing/embedded-servers.ts'

it('creates a separate database for every caller on one server', async () => {
  const [first, second] = await Promise.all([startTestDatabase(), startTestDatabase()])
  await first.database.control`CREATE SCHEMA control`
  await first.database.control`CREATE TABLE t (n bigint)`
  await expect(second.database.control`SELECT * FROM t`).rejects.toMatchObject({ code: '42P01' })
  expect(new URL(first.url).port).toBe(new URL(second.url).port)
  await first.stop()
  await second.database.ping()
  await second.stop()
})

it('creates a separate ClickHouse database for every caller on one gateway', async () => {
  const [first, second] = await Promise.all([startTestUsageStore(), startTestUsageStore()])
  await first.store.command('CREATE TABLE t (n UInt8) ENGINE = MergeTree ORDER BY n')
  await first.store.insert('t', [{ name: 'n', type: 'UInt32', value: (n: number) => n }], [1], 'a')
  expect(await first.store.query('SELECT n FROM t')).toEqual([{ n: 1 }])
  await expect(second.store.query('SELECT n FROM t')).rejects.toMatchObject({ code: 60 })
  await first.stop()
  await second.store.ping()
  await second.stop()
})
