import { cp, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migratePostgres } from '@tollgate/platform/database/postgres/migrations'
import { startTestDatabase, type TestDatabase } from '@tollgate/platform/testing/embedded-servers'
import postgres, { type Sql } from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { migrationsFolder } from '../src/postgres/migrations-folder.ts'

/* Migrations beside transactions of control planes of the version before. */

let folder: string
let empty: TestDatabase
let sql: Sql

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tollgate-migrations-'))
  await cp(migrationsFolder, folder, { recursive: true })
  const environment = join(folder, 'environment')
  for (const name of await readdir(environment)) {
    if (name >= '0151') await rm(join(environment, name))
  }
  empty = await startTestDatabase()
  sql = postgres(empty.url, { max: 4, onnotice: () => undefined })
})
afterAll(async () => {
  await sql.end()
  await empty.stop()
  await rm(folder, { recursive: true })
})

async function isMigrationWaiting(): Promise<boolean> {
  const rows = await sql`
    select from pg_stat_activity
    where application_name = 'tollgate migrations' and wait_event_type = 'Lock'`
  return rows.length > 0
}

test('adding up products waits for a payment that is being paid back, and neither fails', async () => {
  await migratePostgres({ url: empty.url, folder })
  const connection = await sql.reserve()
  await connection`begin`
  // As a refund goes: the payment is locked, then the refund is changed, and then the payment.
  await connection`select from sandbox.payment_intents for update`
  await connection`update sandbox.payment_refunds set status = status`
  const migrated = migratePostgres({ url: empty.url, folder: migrationsFolder })
  const outcome = migrated.then(
    () => 'migrated',
    (error: unknown) => String(error),
  )
  await expect.poll(isMigrationWaiting, { timeout: 30_000 }).toBe(true)
  await connection`update sandbox.payment_intents set status = status`
  await connection`commit`
  connection.release()
  expect(await outcome).toBe('migrated')
}, 120_000)
