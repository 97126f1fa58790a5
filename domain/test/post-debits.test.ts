import { startTestDatabase } from '@tollgate/platform/testing/embedded-servers'
import type { Database } from '@tollgate/platform/database/database'
import { jobActor } from '../src/audit/actor.ts'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { migrationsFolder } from '../src/postgres/migrations-folder.ts'
import { grantCredits } from '../src/wallet/grant-credits.ts'
import { listUnbalancedWallets } from '../src/money-ledger/ledger.ts'
import type { DebitBatch, StoredDebit } from '../src/wallet/debits.ts'
import { postDebits } from '../src/wallet/post-debits.ts'
import { findWallet } from '../src/wallet/repository.ts'
import { runUnitOfWork } from '../src/unit-of-work/run-unit-of-work.ts'

const providerId = 'prv_1'
const now = new Date('2026-05-01T12:00:00Z')
const credit = 1_000_000n

let testDatabase: Awaited<ReturnType<typeof startTestDatabase>>
let database: Database
let customers = 0
let customerRef: string

beforeAll(async () => {
  testDatabase = await startTestDatabase(migrationsFolder)
  database = testDatabase.database
})
afterAll(() => testDatabase.stop())

async function addEndpoint(): Promise<void> {
  await sandbox()`
    insert into webhook_endpoints (provider_id, reference, url, created_at, updated_at)
    values (${providerId}, ${`we_${customerRef}`}, 'https://example.com', ${now}, ${now})`
}

const sandbox = () => database.in('sandbox')

beforeEach(async () => {
  customerRef = `cus_${customers++}`
  const email = `${customerRef}@example.com`
  await sandbox()`
    insert into customers (provider_id, reference, email, status, created_at, updated_at)
    values (${providerId}, ${customerRef}, ${email}, 'active', ${now}, ${now})`
})

function grant(credits: number, idempotencyKey: string | null = null) {
  const operation = {
    providerId,
    environment: 'sandbox',
    now,
    actor: jobActor('test'),
    requestId: null,
  } as const
  return runUnitOfWork(database, { ...operation, idempotencyKey }, (work) =>
    grantCredits(work, { customerRef, credits, reason: undefined }, undefined),
  )
}

const debit = (credits: bigint, productRef = 'prd_1'): StoredDebit => {
  return { providerId, customerRef, productRef, micros: credits * credit }
}

let partition = 0
beforeEach(() => {
  partition += 1
})

/** Each test uses its own partition. */
const batch = (fromOffset: number, debits: readonly StoredDebit[]): DebitBatch => {
  const toOffset = fromOffset + debits.length
  return { partition, fromOffset, toOffset, debits }
}

const post = (posted: DebitBatch) =>
  sandbox().begin((sql) => postDebits(sql, 'sandbox', posted, now))

async function balance(): Promise<bigint> {
  const wallet = await findWallet(sandbox(), providerId, customerRef)
  return wallet!.balanceMicros / credit
}

const eventsOf = (type: string) => sandbox()<{ object: { credits: number; amount: number } }[]>`
  select object from outbox
  where type = ${`customer.credit.${type}`} and object->>'customerId' = ${customerRef}
  order by sequence`

it('posts a batch once, however many processes try and however often', async () => {
  await grant(500)
  const first = batch(0, [debit(100n), debit(50n)])
  const outcomes = await Promise.all([post(first), post(first), post(first)])
  expect(outcomes.filter(({ kind }) => kind === 'posted')).toHaveLength(1)
  expect(await post(first)).toEqual({ kind: 'elsewhere' })
  expect(await balance()).toBe(350n)
  await post(batch(2, [debit(10n)]))
  expect(await balance()).toBe(340n)
  expect(await listUnbalancedWallets(sandbox(), 10)).toEqual([])
})

it('emits no debit events without an endpoint for them, but still emits threshold events', async () => {
  await sandbox()`delete from webhook_endpoints`
  await grant(1_500)
  await post(batch(0, [debit(1_500n)]))
  expect(await eventsOf('debited')).toEqual([])
  expect(await eventsOf('low_balance')).toHaveLength(1)
  expect(await eventsOf('exhausted')).toHaveLength(1)
})

it('changes nothing if the process dies before the commit', async () => {
  await addEndpoint()
  await grant(500)
  const died = sandbox().begin(async (sql) => {
    await postDebits(sql, 'sandbox', batch(0, [debit(100n)]), now)
    throw new Error('killed')
  })
  await expect(died).rejects.toThrow('killed')
  expect(await balance()).toBe(500n)
  expect(await eventsOf('debited')).toEqual([])
  await post(batch(0, [debit(100n)]))
  expect(await balance()).toBe(400n)
})

it('emits the debit of each product, and one event per crossed threshold', async () => {
  await addEndpoint()
  await grant(1_500)
  await post(batch(0, [debit(300n), debit(100n, 'prd_2'), debit(200n)]))
  await post(batch(3, [debit(100n), debit(800n)]))
  const shown = (await eventsOf('debited')).map(({ object }) => [object.amount, object.credits])
  expect(shown).toEqual([
    [-500, 1_000],
    [-100, 900],
    [-900, 0],
  ])
  expect(await eventsOf('low_balance')).toHaveLength(1)
  expect(await eventsOf('exhausted')).toHaveLength(1)
})

it('debits the oldest grant first, and stores which grants were debited', async () => {
  await grant(100)
  await grant(100)
  await post(batch(0, [debit(150n)]))
  const left = await sandbox()<{ remaining: string }[]>`
    select remaining_micros as remaining from credit_grants
    where customer_ref = ${customerRef} order by transaction_ref`
  expect(left.map(({ remaining }) => BigInt(remaining) / credit).toSorted()).toEqual([0n, 50n])
  const burns = await sandbox()<{ micros: string }[]>`
    select burns.micros from credit_burns as burns
    join ledger_transactions as posted on posted.reference = burns.transaction_ref
    where posted.customer_ref = ${customerRef} order by burns.micros`
  expect(burns.map(({ micros }) => BigInt(micros) / credit)).toEqual([50n, 100n])
})

it('writes off usage beyond the balance, which never becomes negative', async () => {
  await grant(100)
  await post(batch(0, [debit(130n)]))
  expect(await balance()).toBe(0n)
  const [wallet] = [await findWallet(sandbox(), providerId, customerRef)]
  // The data plane has counted 130 used of the credits that it knows as granted.
  expect(wallet!.grantedMicros / credit).toBe(130n)
  await grant(10)
  expect(await balance()).toBe(10n)
  expect(await listUnbalancedWallets(sandbox(), 10)).toEqual([])
})

it('emits exhaustion once, however much more is written off', async () => {
  await addEndpoint()
  await grant(1_500)
  await post(batch(0, [debit(1_500n)]))
  await post(batch(1, [debit(2_000n, 'prd_2'), debit(30n)]))
  expect(await eventsOf('low_balance')).toHaveLength(1)
  expect(await eventsOf('exhausted')).toHaveLength(1)
  const shown = (await eventsOf('debited')).map(({ object }) => [object.amount, object.credits])
  expect(shown).toEqual([
    [-1_500, 0],
    [-2_000, 0],
    [-30, 0],
  ])
  await grant(2_000)
  await post(batch(3, [debit(2_500n)]))
  expect(await eventsOf('exhausted')).toHaveLength(2)
})

it('posts two concurrent batches of the same wallets without a deadlock', async () => {
  await grant(10_000)
  const others = Array.from({ length: 5 }, (_, number) => `cus_many_${customers}_${number}`)
  for (const reference of others) {
    await sandbox()`
      insert into customers (provider_id, reference, email, status, created_at, updated_at)
      values (${providerId}, ${reference}, ${`${reference}@example.com`}, 'active', ${now}, ${now})`
  }
  const all = [customerRef, ...others].map((ref) => ({ ...debit(1n), customerRef: ref }))
  const rounds = Array.from({ length: 10 }, (_, number) => ({
    ...batch(0, number % 2 === 0 ? all : all.toReversed()),
    partition: 1_000 + number,
  }))
  await Promise.all(rounds.map((round) => post(round)))
  expect(await balance()).toBe(9_990n)
  expect(await listUnbalancedWallets(sandbox(), 10)).toEqual([])
})

it('skips debits of unknown customers, and posts the rest', async () => {
  await grant(100)
  const stranger = { ...debit(5n), customerRef: 'cus_nobody' }
  const outcome = await post(batch(0, [debit(10n), stranger, debit(20n)]))
  expect(outcome).toEqual({ kind: 'posted', publications: [], unknownDebits: [stranger] })
  expect(await balance()).toBe(70n)
})

it('grants nothing to a deleted customer', async () => {
  await sandbox()`
    update customers set status = 'deleted', email = '', name = null, telephone = null,
      external_ref = null, metadata = '{}'
    where reference = ${customerRef}`
  expect((await grant(10)).result).toEqual({ kind: 'customer-not-found' })
  expect(await findWallet(sandbox(), providerId, customerRef)).toBeUndefined()
})

async function remaining(): Promise<bigint[]> {
  const grants = await sandbox()<{ remaining: string }[]>`
    select remaining_micros as remaining from credit_grants
    where customer_ref = ${customerRef} order by created_at, transaction_ref`
  return grants.map((row) => BigInt(row.remaining) / credit)
}

it('gives the credits of corrected usage back to the grants that it used', async () => {
  await grant(100)
  await post(batch(0, [debit(60n)]))
  await grant(100)
  await post(batch(1, [debit(70n)]))
  expect(await balance()).toBe(70n)
  // New usage of 5 in the same batch is paid by what comes back.
  await post(batch(2, [debit(5n), debit(-45n)]))
  expect(await balance()).toBe(110n)
  await post(batch(4, [debit(-90n)]))
  expect(await balance()).toBe(200n)
  expect(await remaining()).toEqual([100n, 100n])
  expect(await listUnbalancedWallets(sandbox(), 10)).toEqual([])
  const adjusted = (await eventsOf('adjusted')).map(({ object }) => [object.amount, object.credits])
  expect(adjusted).toEqual([
    [40, 110],
    [90, 200],
  ])
})

it('posts nothing for a batch that takes back as much as it debits', async () => {
  await grant(100)
  await post(batch(0, [debit(60n), debit(-60n)]))
  expect(await balance()).toBe(100n)
  await post(batch(2, [debit(100n)]))
  expect(await balance()).toBe(0n)
})

it('reverses a write-off before it gives anything back', async () => {
  await grant(100)
  await post(batch(0, [debit(130n)]))
  expect(await balance()).toBe(0n)
  // Without the corrected 20 credits, usage is still beyond what the customer had.
  await post(batch(1, [debit(-20n)]))
  expect(await balance()).toBe(0n)
  const wallet = await findWallet(sandbox(), providerId, customerRef)
  expect(wallet!.grantedMicros / credit).toBe(110n)
  await post(batch(2, [debit(-30n)]))
  expect(await balance()).toBe(20n)
  expect(await listUnbalancedWallets(sandbox(), 10)).toEqual([])
})

it('returns the value of paid credits from revenue', async () => {
  await grant(100)
  await sandbox()`
    update credit_grants set paid = 1000, paid_currency = 'USD' where customer_ref = ${customerRef}`
  await post(batch(0, [debit(33n)]))
  await post(batch(1, [debit(-33n)]))
  const entries = await sandbox()<{ account: string; amount: string }[]>`
    select account, sum(amount)::text as amount from ledger_entries
    join ledger_transactions as posted on posted.reference = transaction_ref
    where posted.customer_ref = ${customerRef} and unit = 'USD' group by account`
  expect(entries.every(({ amount }) => amount === '0')).toBe(true)
  expect(entries).toHaveLength(2)
})
