import type { Database } from '@tollgate/platform/database/database'
import { startTestDatabase, type TestDatabase } from '@tollgate/platform/testing/embedded-servers'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { migrationsFolder } from '../src/postgres/migrations-folder.ts'
import { MoneyWorld } from './money-world.ts'

/*
 * Take-backs of refunds and disputes that found too few credits. Credits that come back to the wallet later go to them first.
 * The wallet has 500 free credits, and 2000 that cost 20.00.
 */

let testDatabase: TestDatabase
let database: Database
let world: MoneyWorld
let worlds = 0

beforeAll(async () => {
  testDatabase = await startTestDatabase(migrationsFolder)
  database = testDatabase.database
})
afterAll(() => testDatabase.stop())

beforeEach(async () => {
  world = await MoneyWorld.open(database, (worlds += 1))
  await pay()
})
afterEach(async () => {
  await world.check()
  await world.verify()
  await world.close()
})

async function pay(): Promise<void> {
  const terms = { currency: 'USD', total: 2_000n, tax: 0n, credits: 2_000n, fee: 50n } as const
  await world.pay({ ...terms, settled: ['USD', 2_000n] }, true)
}

async function refundAll(payment = 0): Promise<void> {
  await world.refund(world.model.payments[payment]!, 2_000n)
  await world.moveRefund(world.refunds.at(-1)!, 'succeeded')
  await world.followUp(false)
}

async function expectLeft(credits: bigint): Promise<void> {
  expect(world.model.credits).toBe(credits)
  await world.check()
}

test('credits of corrected usage go to a refund that found too few', async () => {
  await world.use(2_400)
  await refundAll()
  await expectLeft(0n)
  await world.correct(1_000, false)
  await expectLeft(0n)
  await world.correct(1_000, true)
  // The refund got 2000: 100 were left, and 1900 of the 2000 came back.
  await expectLeft(100n)
})

test('credits that are added after the refund stay with the customer', async () => {
  await world.use(2_500)
  await refundAll()
  await world.grant(300)
  await pay()
  await world.retake()
  await expectLeft(2_300n)
  await world.use(50)
  await world.correct(2_550, false)
  await expectLeft(2_800n)
})

test('credits of a hold that is released go to the refund', async () => {
  const release = await world.holdForNothing(2_450)
  // The model knows no holds: for it, the refund finds everything at once.
  await refundAll()
  await release()
  await world.retake(true)
  await expectLeft(500n)
})

test('a take-back ends once no usage of its wallet can come back', async () => {
  await world.use(2_450)
  await refundAll()
  const due = await database.in('sandbox')`
    select from credit_take_backs where reference = ${world.refunds[0]!.reported.id} and due_at is not null`
  expect(due).toHaveLength(0)
})

test('credits of a failed refund go to a dispute of another payment first', async () => {
  await pay()
  await world.use(3_000)
  await refundAll(0)
  await expectLeft(0n)
  await world.dispute(world.model.payments[1]!)
  await world.followUp(false)
  await world.moveRefund(world.refunds[0]!, 'failed')
  await world.followUp(false)
  await expectLeft(0n)
  await world.win(world.disputes[0]!)
  await world.followUp(false)
  await expectLeft(1_500n)
})

test('a won dispute returns the credits that were taken later, too', async () => {
  await world.use(2_300)
  await world.dispute(world.model.payments[0]!)
  await world.followUp(false)
  await world.correct(500, false)
  await world.correct(400, true)
  await expectLeft(0n)
  await world.win(world.disputes[0]!)
  await world.followUp(true)
  await expectLeft(1_100n)
})
