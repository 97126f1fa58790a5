import type { Database } from '@tollgate/platform/database/database'
import { startTestDatabase } from '@tollgate/platform/testing/embedded-servers'
import { randomRuns } from '@tollgate/platform/testing/random-runs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import fc from 'fast-check'
import { jobActor } from '../src/audit/actor.ts'
import { migrationsFolder } from '../src/postgres/migrations-folder.ts'
import { runUnitOfWork } from '../src/unit-of-work/run-unit-of-work.ts'
import { grantCredits } from '../src/wallet/grant-credits.ts'
import { postDebits } from '../src/wallet/post-debits.ts'

/* The events low_balance and exhausted of a wallet with concurrent debits and grants. */

const providerId = 'prv_1'
const now = new Date('2026-05-01T12:00:00Z')
const credit = 1_000_000n

let testDatabase: Awaited<ReturnType<typeof startTestDatabase>>
let database: Database
let partition = 0
let customers = 0

beforeAll(async () => {
  testDatabase = await startTestDatabase(migrationsFolder)
  database = testDatabase.database
  await sandbox()`
    insert into webhook_endpoints (provider_id, reference, url, created_at, updated_at)
    values (${providerId}, 'we_1', 'https://example.com', ${now}, ${now})`
})
afterAll(() => testDatabase.stop())

const sandbox = () => database.in('sandbox')

async function addCustomer(): Promise<string> {
  const customerRef = `cus_${customers++}`
  await sandbox()`
    insert into customers (provider_id, reference, email, status, created_at, updated_at)
    values (${providerId}, ${customerRef}, ${`${customerRef}@example.com`}, 'active', ${now}, ${now})`
  return customerRef
}

function grant(customerRef: string, credits: number) {
  const by = { actor: jobActor('test'), requestId: null, idempotencyKey: null }
  return runUnitOfWork(database, { providerId, environment: 'sandbox', now, ...by }, (work) =>
    grantCredits(work, { customerRef, credits, reason: undefined }, undefined),
  )
}

/** Posts the debit from its own partition, so that only the wallet's lock orders it. */
function debit(customerRef: string, credits: number) {
  const debits = [
    { providerId, customerRef, productRef: 'prd_1', micros: BigInt(credits) * credit },
  ]
  partition += 1
  const batch = { partition, fromOffset: 0, toOffset: 1, debits }
  return sandbox().begin((sql) => postDebits(sql, 'sandbox', batch, now))
}

type EmittedEvent = { readonly type: string; readonly credits: number; readonly amount: number }

/** Returns the events in the order in which they were emitted, which is the order of the wallet's lock. */
const listEventsOf = (customerRef: string) => sandbox()<EmittedEvent[]>`
  select substr(type, 17) as type, (object->>'credits')::float8 as credits,
    (object->>'amount')::float8 as amount
  from outbox where order_key = ${customerRef} and type like 'customer.credit.%' order by sequence`

const moves = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: fc.integer({ min: -400, max: -1 }) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 4_000 }) },
  ),
  { minLength: 100, maxLength: 130 },
)

it('emits one event per threshold on each way down, for 100 concurrent debits with grants in between', async () => {
  await fc.assert(
    fc.asyncProperty(moves, async (amounts) => {
      const customerRef = await addCustomer()
      await grant(customerRef, 8_000)
      await Promise.all(
        amounts.map((amount) =>
          amount > 0 ? grant(customerRef, amount) : debit(customerRef, -amount),
        ),
      )
      const events = await listEventsOf(customerRef)
      const expected: string[] = []
      let before = 0
      for (const { type, credits, amount } of events) {
        if (type !== 'granted' && type !== 'debited') continue
        // Debits beyond the balance were written off.
        expect(credits).toBe(Math.max(0, before + amount))
        expected.push(type)
        if (before > 1_000 && credits <= 1_000) expected.push('low_balance')
        if (before >= 1 && credits < 1) expected.push('exhausted')
        before = credits
      }
      expect(events.map(({ type }) => type)).toEqual(expected)
      expect(expected.filter((type) => type === 'debited' || type === 'granted')).toHaveLength(
        amounts.length + 1,
      )
    }),
    { ...randomRuns(10), interruptAfterTimeLimit: 60_000 },
  )
}, 120_000)
