import { randomRuns } from '@tollgate/platform/testing/random-runs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Random } from '../year/random.ts'
import { ClockRunner } from './clock-runner.ts'
import { ClockStack } from './clock-stack.ts'
import { clockTime as at } from './clock-year.ts'

/*
 * Usage is recorded while a clock moves over months in one advance, in the moments in which bills read the stored usage. Whatever is
 * accepted is billed. Usage is dated by the time that was published last, and may be dated up to 30 days back, so a clock must not
 * close a period of customers who still have an earlier time.
 */

const { seed } = randomRuns(1)

let clocks: ClockStack
let runner: ClockRunner
let plan: { readonly productRef: string; readonly planRef: string }
/** Is called before each query of stored usage. */
let meanwhile: () => Promise<void> = () => Promise.resolve()

beforeAll(async () => {
  clocks = await ClockStack.start({ hasBillingRunner: false })
  const { usageStore } = clocks.stack
  runner = await ClockRunner.open(clocks, {
    usageStore: {
      ...usageStore,
      query: async (...query) => {
        await meanwhile()
        return usageStore.query(...query)
      },
    },
  })
  const { reference: productRef } = await clocks.client.createProduct({ name: 'API' })
  const { reference: planRef } = await clocks.client.createPlan(productRef, {
    ...{ name: 'Metered', type: 'usage-based', billingModel: 'post-paid' },
    ...{ billingCycle: 'monthly', currency: 'USD' },
    charges: [{ meter: 'requests', model: 'per_unit', price: '1' }],
  })
  plan = { productRef, planRef }
}, 120_000)
afterAll(async () => {
  await runner.close()
  await clocks.stop()
})

/** Returns a clock that stands at 10 January, and its customer, who has the plan since 1 January. */
async function subscriber(): Promise<{ clock: string; customerRef: string }> {
  const clock = await clocks.createClock(at('01-01'))
  const customerRef = await clocks.createCustomer(clock)
  await clocks.saveCard(customerRef)
  await clocks.post('/v1/sdk/activate', { customerRef, ...plan })
  await advance(clock, at('01-10'))
  return { clock, customerRef }
}

async function advance(clock: string, to: string): Promise<void> {
  await clocks.requestAdvance(clock, to)
  while ((await clocks.clock(clock)).status === 'advancing') await runner.run()
  expect(await clocks.clock(clock)).toMatchObject({ status: 'ready', frozenTime: to })
}

/** Records units and returns how many were accepted. */
async function record(customerRef: string, units: number, timestamp?: string): Promise<number> {
  const usage = { customerRef, productRef: plan.productRef, units, timestamp }
  const { status } = await clocks.client.send('POST', '/v1/sdk/usages', usage)
  expect([200, 400]).toContain(status)
  return status === 200 ? units : 0
}

/** Returns the units that invoices have billed. A unit costs 1 cent. */
async function billedUnits(customerRef: string): Promise<number> {
  const invoices = await clocks.invoicesOf(customerRef)
  return invoices
    .flatMap(({ lines }) => lines)
    .filter(({ kind }) => kind === 'usage' || kind === 'late_usage')
    .reduce((sum, { amount }) => sum + amount, 0)
}

test(`bills all usage that is recorded during an advance of half a year, seed ${seed}`, async () => {
  const random = new Random(seed)
  const { clock, customerRef } = await subscriber()
  let recorded = 0
  meanwhile = async () => {
    recorded += await record(customerRef, 100)
    // Dated back from the time that was published last, which only the service knows.
    const day = String(random.between(10, 28))
    recorded += await record(customerRef, 1, at(`0${random.between(1, 6)}-${day}`))
  }
  await advance(clock, at('07-10'))
  meanwhile = () => Promise.resolve()
  await advance(clock, at('09-10'))
  expect(recorded).toBeGreaterThan(500)
  expect(await billedUnits(customerRef)).toBe(recorded)
}, 300_000)

test('accepts no usage of an ended purchase in the moment in which its usage is closed', async () => {
  const { clock, customerRef } = await subscriber()
  const [purchase] = (await clocks.purchasesOf(customerRef)).filter(
    ({ productRef }) => productRef === plan.productRef,
  )
  await clocks.post(`/v1/sdk/purchases/${purchase!.reference}/cancel`, { reason: 'test' })
  const accepted: number[] = []
  meanwhile = async () => {
    accepted.push(await record(customerRef, 1, at('01-25')))
  }
  await advance(clock, at('06-10'))
  const sum = accepted.reduce((one, other) => one + other, 0)
  expect(await billedUnits(customerRef)).toBe(sum)
  // The bill of January accepts late usage, and the last one none.
  expect(accepted.at(0)).toBe(1)
  expect(accepted.at(-1)).toBe(0)
}, 300_000)
