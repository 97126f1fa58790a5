import type { Queryable } from '@tollgate/platform/database/database'
import { startTestDatabase, type TestDatabase } from '@tollgate/platform/testing/embedded-servers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { listPublishedThresholds } from '../src/auto-recharge/published-thresholds.ts'
import { insertCustomer } from '../src/customers/repository.ts'
import { setExchangeRate } from '../src/money/exchange-rates.ts'
import { migrationsFolder } from '../src/postgres/migrations-folder.ts'

let postgres: TestDatabase

beforeAll(async () => {
  postgres = await startTestDatabase(migrationsFolder)
})
afterAll(() => postgres.stop())

const now = new Date('2026-03-01T10:00:00Z')

async function enableRecharge(
  sql: Queryable,
  providerId: string,
  reference: string,
  currency: string,
): Promise<void> {
  const names = { email: `${reference}@example.com`, name: null, telephone: null, locale: null }
  const times = { createdAt: now, updatedAt: now }
  const more = {
    externalRef: null,
    status: 'active' as const,
    metadata: {},
    testClockRef: null,
    ...times,
  }
  await insertCustomer(sql, providerId, { reference, ...names, ...more })
  const row = {
    provider_id: providerId,
    customer_ref: reference,
    status: 'active',
    threshold_minor: 500,
    threshold_currency: currency,
    topup_minor: 2_000,
    topup_currency: currency,
    funding_source_type: 'saved_card',
    updated_at: now,
  }
  await sql`insert into auto_recharges ${sql(row)}`
}

/** Counts the calls of the tagged template that sends statements and creates fragments. */
function counted(sql: Queryable): { readonly sql: Queryable; readonly calls: () => number } {
  let calls = 0
  const counting = new Proxy(sql, {
    apply(target, self: unknown, args: unknown[]) {
      calls += 1
      return Reflect.apply<unknown, unknown[], unknown>(target, self, args)
    },
  })
  return { sql: counting, calls: () => calls }
}

test('reads the thresholds of many customers in as many statements as for one', async () => {
  await postgres.database.in('sandbox').begin(async (sql) => {
    await setExchangeRate(sql, 'prv_A', { currency: 'EUR', unitsPerDollar: '0.5' }, now)
    await enableRecharge(sql, 'prv_A', 'cus_usd', 'USD')
    await enableRecharge(sql, 'prv_A', 'cus_own', 'EUR')
    await enableRecharge(sql, 'prv_B', 'cus_builtin', 'EUR')
    await enableRecharge(sql, 'prv_A', 'cus_unknown', 'XTS')
    const names = [
      { providerId: 'prv_A', customerRef: 'cus_usd' },
      { providerId: 'prv_A', customerRef: 'cus_own' },
      { providerId: 'prv_B', customerRef: 'cus_builtin' },
      { providerId: 'prv_A', customerRef: 'cus_unknown' },
    ]
    const one = counted(sql)
    await listPublishedThresholds(one.sql, names.slice(0, 1))
    const all = counted(sql)
    const thresholds = await listPublishedThresholds(all.sql, names)
    expect(all.calls()).toBe(one.calls())
    // 4.995 is displayed as 5: 49,950 credits in dollars, and the value of 4.995 euros at each rate, rounded up.
    expect(thresholds).toEqual(
      new Map([
        ['cus_usd', 49_950_000_000n],
        ['cus_own', 99_900_000_000n],
        ['cus_builtin', 54_294_000_000n],
      ]),
    )
  })
})
