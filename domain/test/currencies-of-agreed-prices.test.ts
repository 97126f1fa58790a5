import { migratePostgres } from '@tollgate/platform/database/postgres/migrations'
import { startTestDatabase, type TestDatabase } from '@tollgate/platform/testing/embedded-servers'
import postgres from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { OverridesVersion } from '../src/overrides/overrides.ts'
import { findOverrides, saveOverrides } from '../src/overrides/repository.ts'
import { migrationsFolder } from '../src/postgres/migrations-folder.ts'
import { billedAt, createPurchases, inWork } from './billed-customers.ts'

/* Prices that were agreed before their currency was stored get the currency that the plan has when the release starts. */

let testDatabase: TestDatabase

beforeAll(async () => {
  testDatabase = await startTestDatabase(migrationsFolder)
})
afterAll(() => testDatabase.stop())

test('a migration stores the currency of the plan in the prices of all versions', async () => {
  const { database, url } = testDatabase
  const providerId = 'prv_1'
  const [{ customerRef, purchaseRef } = { customerRef: '', purchaseRef: '' }] =
    await createPurchases(database, providerId, 1)
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  const [{ product_ref: productRef } = { product_ref: '' }] = await sql<{ product_ref: string }[]>`
    select product_ref from sandbox.purchases where reference = ${purchaseRef}`
  await sql`
    insert into sandbox.plans
      (provider_id, reference, product_ref, name, type, status, price, currency, created_at, updated_at)
    values (${providerId}, 'pln_1', ${productRef}, 'Pro', 'recurring', 'active', 900, 'EUR', now(), now())`

  const versions = (currency: Readonly<Record<string, string>>): OverridesVersion[] => {
    const none = { charges: [], usageLimits: [] }
    const own = { planRef: 'pln_1', price: 500, ...currency }
    const [other, gone] = [
      { planRef: 'pln_1', price: 400, currency: 'USD' },
      { planRef: 'pln_gone', price: 300 },
    ]
    return [
      { ...none, since: '2026-01-01T00:00:00.000Z' },
      { ...none, since: '2026-02-01T00:00:00.000Z', prices: [own, other] },
      { ...none, since: '2026-03-01T00:00:00.000Z', prices: [gone, own] },
    ]
  }
  const [first, ...later] = versions({})
  const of = { customerRef, productRef }
  await inWork(database, providerId, (work) =>
    saveOverrides(work.sql, providerId, of, [first!, ...later], billedAt),
  )
  const name = '0049-currencies-of-agreed-prices.sql'
  await sql`delete from sandbox.schema_migrations where name = ${name}`
  await migratePostgres({ url, folder: migrationsFolder })

  const inEuros = versions({ currency: 'EUR' })
  expect(
    await inWork(database, providerId, (work) =>
      findOverrides(work.sql, providerId, customerRef, productRef),
    ),
  ).toEqual(inEuros)
  const [{ prices } = { prices: [] }] = await sql<{ prices: unknown[] }[]>`
    select prices from sandbox.customer_overrides where customer_ref = ${customerRef}`
  expect(prices).toEqual(inEuros.at(-1)!.prices)
  await sql.end()
})
