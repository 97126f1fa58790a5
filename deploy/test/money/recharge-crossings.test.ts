import { findAutoRecharge, type AutoRecharge } from '@tollgate/domain/auto-recharge/repository'
import { readDebitPosition } from '@tollgate/domain/wallet/debit-positions'
import { postDebits } from '@tollgate/domain/wallet/post-debits'
import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest'
import { readProcessor } from '../../../stripe-simulator/test/at-processor.ts'
import { CrashingProcess } from './crashing-process.ts'
import { CrashingService } from './crashing-service.ts'
import { longTimeoutMs, MoneyWorld } from './money-world.ts'
import { playStory } from './play-story.ts'
import type { StoryContext } from './story-context.ts'
import { runRemainingJobs } from './run-remaining-jobs.ts'
import { addCustomer, openShop } from './shop.ts'
import type { Act } from './story.ts'
import { verifyWorld } from './verify-world.ts'
import { environment } from './environment.ts'
import { openStores } from './stores.ts'

/*
 * Many processes notice a low wallet at once: usage of 100 partitions is posted while 12 processes check wallets. The wallet
 * contains credits for 10 dollars. Below 5 dollars it is topped up by 20, up to 60 dollars per month.
 */

vi.setConfig({ testTimeout: 120_000 })

let world: MoneyWorld
let context: StoryContext

const stores = await openStores()
afterAll(() => stores.stop())
beforeEach(() => {
  // Each test uses a separate month.
  const now = new Date(stores.clock.now())
  stores.clock.set(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 2, 10))
})
afterEach(() => world.close())

async function open(card: string): Promise<void> {
  world = await MoneyWorld.open(stores, [], longTimeoutMs)
  const shop = await openShop(stores)
  context = { world, shop, customer: await addCustomer(stores, shop), known: new Map() }
  const acts: Act[] = [
    // The request is repeated, in case the first answer is late.
    { do: 'buy', slot: 0, item: 'credits that refill' },
    { do: 'buy', slot: 0, item: 'credits that refill' },
    { do: 'pay', slot: 0, card },
    { do: 'answer the bank', slot: 0, isAccepted: true },
    { do: 'wait for', slot: 0 },
  ]
  await playStory(context, { crashes: [], acts: acts.map((act) => [act]) })
}

const partitions = Array.from({ length: 100 }, (_, index) => index + 1)

/** Records usage of `credits`, 1 percent of it in each partition. */
async function useConcurrently(credits: number): Promise<void> {
  const micros = BigInt(credits) * 10_000n
  const { database } = stores.postgres
  await Promise.all(
    partitions.map((partition) =>
      database.in(environment).begin(async (sql) => {
        const fromOffset = await readDebitPosition(sql, partition)
        const { providerId, productRef } = context.shop
        const debit = { providerId, customerRef: context.customer.reference, productRef, micros }
        const batch = { partition, fromOffset, toOffset: fromOffset + 1, debits: [debit] }
        await postDebits(sql, environment, batch, world.now)
      }),
    ),
  )
}

/** Checks the wallets from several processes at once. */
async function rechargeConcurrently(processes = 12): Promise<void> {
  const services = Array.from({ length: processes }, () => {
    const complain = (error: unknown): number => world.errors.push(error)
    return new CrashingService(new CrashingProcess(), stores, world.simulator.processor, complain)
  })
  await Promise.all(services.map((service) => service.rechargeWallets()))
}

async function recharge(): Promise<AutoRecharge> {
  const sql = stores.postgres.database.in(environment)
  const found = await findAutoRecharge(sql, context.shop.providerId, context.customer.reference)
  return found!
}

/** Returns the number of off-session payments with a status. */
async function charges(status: string): Promise<number> {
  const { payment_intents: payments } = await readProcessor(world.simulator.simulator.url)
  const topUps = payments.filter(({ amount }) => amount === 2_000)
  return topUps.filter((payment) => payment.status === status).length
}

test('charges once for 100 concurrent debits below the threshold', async () => {
  await open('pm_card_visa')
  await Promise.all([
    useConcurrently(90_000),
    rechargeConcurrently(),
    rechargeConcurrently(),
    rechargeConcurrently(),
  ])
  await rechargeConcurrently()
  expect(await charges('succeeded')).toBe(1)
  await runRemainingJobs(context)
  await verifyWorld(context)
  expect(await charges('succeeded')).toBe(1)
  expect(await recharge()).toMatchObject({ status: 'active', monthlySpendMinor: 2_000n })
})

test('never exceeds the cap of a month, however often the threshold is crossed', async () => {
  await open('pm_card_visa')
  await useConcurrently(60_000)
  for (let crossing = 1; crossing <= 5; crossing++) {
    await rechargeConcurrently()
    await world.advanceClock(60_000)
    const { monthlySpendMinor } = await recharge()
    if (crossing <= 3) await useConcurrently(200_000)
    expect(monthlySpendMinor).toBe(BigInt(Math.min(crossing, 3)) * 2_000n)
  }
  await runRemainingJobs(context)
  await verifyWorld(context)
  expect(await charges('succeeded')).toBe(3)
})

test('stops after three declines, with any number of processes', async () => {
  await open('pm_card_authenticationRequired')
  await useConcurrently(90_000)
  for (let round = 1; round <= 6; round++) {
    await Promise.all([rechargeConcurrently(), rechargeConcurrently()])
    await world.advanceClock(11 * 60_000)
  }
  await runRemainingJobs(context)
  await verifyWorld(context)
  expect(await charges('canceled')).toBe(3)
  expect(await charges('succeeded')).toBe(0)
  expect(await recharge()).toMatchObject({ status: 'failed', failureCount: 3 })
})

test.each([
  ['before its call', 'before createPaymentIntent'],
  ['behind its call', 'after createPaymentIntent'],
])(
  'settles a charge whose process died %s a day later, before it begins another',
  async (_, step) => {
    await open('pm_card_visa')
    await useConcurrently(90_000)
    const process = await crashAt(step)
    expect(process.hasCrashed).toBe(true)
    const { inFlightPaymentIntentId } = await recharge()
    expect(inFlightPaymentIntentId).not.toBeNull()
    for (const hours of [1, 23, 2]) {
      await world.advanceClock(hours * 3_600_000)
      await rechargeConcurrently()
      expect(await charges('succeeded')).toBe(step.startsWith('after') ? 1 : 0)
      expect((await recharge()).inFlightPaymentIntentId).toBe(inFlightPaymentIntentId)
    }
    await runRemainingJobs(context)
    await verifyWorld(context)
    expect(await charges('succeeded')).toBe(1)
  },
)

test('counts a charge in the month in which it was begun', async () => {
  await open('pm_card_visa')
  await stores.postgres.database.in(environment)`
    update auto_recharges set monthly_spend_max_minor = 2000
    where customer_ref = ${context.customer.reference}`
  await useConcurrently(90_000)
  const now = new Date(stores.clock.now())
  const nextMonth = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1)
  await world.advanceClock(nextMonth - stores.clock.now() - 1_000)
  await crashAt('after createPaymentIntent')
  await world.advanceClock(61_000)
  const month = (at: number): string => new Date(at).toISOString().slice(0, 7)
  await (await world.service()).reconcilePayments()
  expect(await recharge()).toMatchObject({ monthlySpendPeriod: month(nextMonth - 1) })
  await useConcurrently(200_000)
  await rechargeConcurrently()
  expect(await recharge()).toMatchObject({
    monthlySpendMinor: 2_000n,
    monthlySpendPeriod: month(nextMonth),
  })
  expect(await charges('succeeded')).toBe(2)
  await runRemainingJobs(context)
  await verifyWorld(context)
})

/** Runs a process that checks wallets and dies at the given step. */
async function crashAt(step: string): Promise<CrashingProcess> {
  const process = new CrashingProcess({ atStep: step, sendsPendingCall: false })
  const complain = (error: unknown): number => world.errors.push(error)
  const service = new CrashingService(process, stores, world.simulator.processor, complain)
  await service.rechargeWallets().catch(() => undefined)
  return process
}
