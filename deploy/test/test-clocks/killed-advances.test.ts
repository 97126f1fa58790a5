import { randomRuns } from '@tollgate/platform/testing/random-runs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Random } from '../year/random.ts'
import { ClockRunner } from './clock-runner.ts'
import { ClockStack } from './clock-stack.ts'
import { clockYear } from './clock-year.ts'

/*
 * The same customers live on two clocks. One is advanced by runners that die after a few effects, the other by a runner that
 * lives. Both have the same invoices, purchases, credits and events, at the same times.
 */

const { seed } = randomRuns(1)

let clocks: ClockStack
let runner: ClockRunner

beforeAll(async () => {
  clocks = await ClockStack.start({ hasBillingRunner: false })
  runner = await ClockRunner.open(clocks)
}, 120_000)
afterAll(async () => {
  await runner.close()
  await clocks.stop()
})

const start = `${clockYear}-01-01T00:00:00.000Z`
/** After the end of a month, a trial, retries of a declined card and the expiry of credits. */
const end = `${clockYear}-02-10T00:00:00.000Z`

type Life = { readonly clock: string; readonly customers: readonly string[] }

async function prepare(): Promise<Life> {
  const { reference: productRef } = await clocks.client.createProduct({ name: 'API' })
  const planOf = async (plan: Record<string, unknown>): Promise<string> =>
    (await clocks.client.createPlan(productRef, { billingCycle: 'monthly', ...plan })).reference
  const flat = await planOf({ name: 'Flat', type: 'recurring', price: 1000 })
  const metered = await planOf({
    ...{ name: 'Metered', type: 'usage-based', billingModel: 'post-paid' },
    charges: [{ meter: 'requests', model: 'per_unit', price: '10' }],
  })
  const trial = await planOf({ name: 'Trial', type: 'recurring', price: 900, trialDays: 14 })
  const clock = await clocks.createClock(start)
  const customers: string[] = []
  for (let count = 0; count < 4; count += 1) customers.push(await clocks.createCustomer(clock))
  const [payer, debtor, user, tester] = customers as [string, string, string, string]
  await clocks.buy(payer, productRef, flat)
  await clocks.buy(debtor, productRef, flat)
  await clocks.replaceCard(debtor, 'pm_card_chargeCustomerFail')
  await clocks.saveCard(user)
  await clocks.post('/v1/sdk/activate', { customerRef: user, productRef, planRef: metered })
  await clocks.client.recordUsage({ customerRef: user, productRef, units: 25 })
  await clocks.startTrial(tester, productRef, trial)
  const credits = { credits: 100, expiresAt: `${clockYear}-02-03T04:05:06Z` }
  await clocks.post(`/v1/sdk/customers/${payer}/credits`, credits, `grant-${payer}`)
  return { clock, customers }
}

/** Returns what a customer's life has left, without references. */
async function tracesOf(customerRef: string) {
  const invoices = await clocks.invoicesOf(customerRef)
  const purchases = await clocks.purchasesOf(customerRef)
  const { transactions } = await clocks.get<{ transactions: Record<string, unknown>[] }>(
    `/v1/ui/customers/${customerRef}/credits/transactions`,
  )
  return {
    invoices: invoices.map(({ status, total, createdAt }) => ({ status, total, createdAt })),
    // Purchases of one instant have no order.
    purchases: purchases
      .map(({ status, startDate, endDate, nextBillingDate }) =>
        [status, startDate, endDate, nextBillingDate].join(' '),
      )
      .toSorted(),
    credits: transactions.map(({ kind, credits, createdAt }) => ({ kind, credits, createdAt })),
    events: (await clocks.eventsOf(customerRef)).map(toTheHour).toSorted(),
  }
}

/** A charge during which a runner dies is repeated 10 minutes of the clock later. Everything else happens at the same second. */
function toTheHour(event: string): string {
  return event.replace(/:..:......Z (?=payment\.|purchase\.past_due)/, ' ')
}

test(`runners that die leave what a runner leaves that lives, seed ${seed}`, async () => {
  const random = new Random(seed)
  const [calm, deadly] = [await prepare(), await prepare()]
  await clocks.requestAdvance(calm.clock, end)
  while ((await clocks.clock(calm.clock)).status !== 'ready') await runner.run()
  await clocks.requestAdvance(deadly.clock, end)
  let runs = 0
  for (;;) {
    const { status, frozenTime, failure } = await clocks.clock(deadly.clock)
    if (status === 'ready') break
    expect([status, failure]).toEqual(['advancing', undefined])
    expect(frozenTime <= end).toBe(true)
    const hasRun = await runner.run(random.between(0, 12))
    if (hasRun) runs += 1
    else await sleep(20)
  }
  expect(runs).toBeGreaterThan(10)
  for (const [index, customerRef] of deadly.customers.entries()) {
    expect(await tracesOf(customerRef)).toEqual(await tracesOf(calm.customers[index]!))
  }
}, 300_000)

test('a paused clock stands still, and a failed one says what failed and goes on when it is resumed', async () => {
  const { clock } = await prepare()
  await clocks.requestAdvance(clock, end)
  await runner.run(10)
  await clocks.post(`/v1/ui/test-clocks/${clock}/pause`, {})
  await sleep(150)
  const paused = await clocks.clock(clock)
  expect(await runner.run()).toBe(false)
  expect(await clocks.clock(clock)).toEqual(paused)
  await clocks.post(`/v1/ui/test-clocks/${clock}/resume`, {})

  const broken = await ClockRunner.open(clocks, {
    usageStore: {
      ...clocks.stack.usageStore,
      query: () => Promise.reject(new Error('ClickHouse is on fire')),
    },
  })
  await broken.run()
  await broken.close()
  const failed = await clocks.clock(clock)
  expect(failed).toMatchObject({ status: 'failed' })
  expect(failed.failure).toMatch(/^usage-billing of pur_\w+: ClickHouse is on fire$/)
  expect(failed.frozenTime).toBe(`${clockYear}-02-01T11:00:00.000Z`)

  await clocks.post(`/v1/ui/test-clocks/${clock}/resume`, {})
  while ((await clocks.clock(clock)).status === 'advancing') await runner.run()
  expect(await clocks.clock(clock)).toMatchObject({ status: 'ready', frozenTime: end })
}, 120_000)
