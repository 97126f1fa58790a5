import { startTestDatabase } from '@tollgate/platform/testing/embedded-servers'
import type { Database } from '@tollgate/platform/database/database'
import { randomRuns } from '@tollgate/platform/testing/random-runs'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { jobActor } from '../src/audit/actor.ts'
import { listUnbalancedWallets } from '../src/money-ledger/ledger.ts'
import { migrationsFolder } from '../src/postgres/migrations-folder.ts'
import { runUnitOfWork } from '../src/unit-of-work/run-unit-of-work.ts'
import { grantCredits } from '../src/wallet/grant-credits.ts'
import { postDebits } from '../src/wallet/post-debits.ts'
import { findWallet } from '../src/wallet/repository.ts'

/*
 * Random grants, debits and corrections of debits, in random batches. The balance is that of a model which knows nothing of grants: what
 * was granted less what is used, and usage beyond that at the provider's expense.
 */

const providerId = 'prv_1'
const now = new Date('2026-05-01T12:00:00Z')
const credit = 1_000_000n
const runs = randomRuns(40)

let testDatabase: Awaited<ReturnType<typeof startTestDatabase>>
let database: Database

beforeAll(async () => {
  testDatabase = await startTestDatabase(migrationsFolder)
  database = testDatabase.database
})
afterAll(() => testDatabase.stop())

type Step =
  | { readonly kind: 'grant'; readonly credits: number }
  | { readonly kind: 'post'; readonly debits: readonly number[] }
  /** A part of all usage so far is taken away, from 0 to 1. */
  | { readonly kind: 'correct'; readonly part: number; readonly debits: readonly number[] }

const debits = fc.array(fc.integer({ min: 1, max: 300 }), { maxLength: 3 })
const steps = fc.array(
  fc.oneof<fc.Arbitrary<Step>[]>(
    fc.record({ kind: fc.constant('grant'), credits: fc.integer({ min: 1, max: 500 }) }),
    fc.record({ kind: fc.constant('post'), debits }),
    fc.record({
      kind: fc.constant('correct'),
      part: fc.double({ min: 0, max: 1, noNaN: true }),
      debits,
    }),
  ),
  { minLength: 1, maxLength: 12 },
)

async function addCustomer(customerRef: string): Promise<void> {
  await database.in('sandbox')`
    insert into customers (provider_id, reference, email, status, created_at, updated_at)
    values (${providerId}, ${customerRef}, ${`${customerRef}@example.com`}, 'active', ${now}, ${now})`
}

function grant(customerRef: string, credits: number) {
  const operation = {
    environment: 'sandbox',
    ...{ providerId, now, actor: jobActor('test'), requestId: null, idempotencyKey: null },
  } as const
  return runUnitOfWork(database, operation, (work) =>
    grantCredits(work, { customerRef, credits, reason: undefined }, undefined),
  )
}

test(`${runs.numRuns} wallets have the balance of a model`, { timeout: 0 }, async () => {
  let partition = 1_000
  const property = fc.asyncProperty(steps, async (all) => {
    partition += 1
    const customerRef = `cus_${partition}`
    await addCustomer(customerRef)
    let [balance, writtenOff, used, offset] = [0, 0, 0, 0]
    for (const step of all) {
      if (step.kind === 'grant') {
        await grant(customerRef, step.credits)
        balance += step.credits
        continue
      }
      const taken = step.kind === 'correct' ? Math.floor(used * step.part) : 0
      const amounts = [...step.debits, ...(taken === 0 ? [] : [-taken])]
      const batch = {
        partition,
        fromOffset: offset,
        toOffset: offset + amounts.length,
        debits: amounts.map((each) => {
          const micros = BigInt(each) * credit
          return { providerId, customerRef, productRef: 'prd_1', micros }
        }),
      }
      await database.in('sandbox').begin((sql) => postDebits(sql, 'sandbox', batch, now))
      offset = batch.toOffset
      const net = amounts.reduce((sum, each) => sum + each, 0)
      used += net
      if (net >= 0) {
        writtenOff += Math.max(0, net - balance)
        balance = Math.max(0, balance - net)
      } else {
        const reversed = Math.min(writtenOff, -net)
        writtenOff -= reversed
        balance += -net - reversed
      }
      const wallet = await findWallet(database.in('sandbox'), providerId, customerRef)
      expect((wallet?.balanceMicros ?? 0n) / credit).toBe(BigInt(balance))
    }
    expect(await listUnbalancedWallets(database.in('sandbox'), 10)).toEqual([])
  })
  await fc.assert(property, runs)
})

test('credits that no posted usage had taken become a grant, and later debits are posted', async () => {
  const customerRef = 'cus_restored'
  await addCustomer(customerRef)
  await grant(customerRef, 100)
  const post = (fromOffset: number, credits: bigint) => {
    const debits = [{ providerId, customerRef, productRef: 'prd_1', micros: credits * credit }]
    const batch = { partition: 999, fromOffset, toOffset: fromOffset + 1, debits }
    return database.in('sandbox').begin((sql) => postDebits(sql, 'sandbox', batch, now))
  }
  await post(0, 30n)
  // A correction of usage whose debit of 20 was lost with a restored database.
  await post(1, -50n)
  await post(2, 110n)
  const wallet = await findWallet(database.in('sandbox'), providerId, customerRef)
  expect(wallet?.balanceMicros).toBe(10n * credit)
  expect(await listUnbalancedWallets(database.in('sandbox'), 10)).toEqual([])
})
