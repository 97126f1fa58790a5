import { runOnce } from '@tollgate/billing-runner/jobs/run-once'
import { createJobs } from '@tollgate/billing-runner/jobs/job-catalogue'
import { openParts, publisherOf } from '@tollgate/billing-runner/open-parts'
import { createLogger } from '@tollgate/platform/observability/logger'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ClockRunner } from './clock-runner.ts'
import { ClockStack } from './clock-stack.ts'
import { clockYear } from './clock-year.ts'

let clocks: ClockStack
let runner: ClockRunner
let plan: { readonly productRef: string; readonly planRef: string }

beforeAll(async () => {
  clocks = await ClockStack.start({ hasBillingRunner: false })
  runner = await ClockRunner.open(clocks)
  const { reference: productRef } = await clocks.client.createProduct({ name: 'API' })
  const terms = { name: 'Flat', type: 'recurring', price: 1000, billingCycle: 'monthly' }
  const { reference: planRef } = await clocks.client.createPlan(productRef, terms)
  plan = { productRef, planRef }
}, 120_000)
afterAll(async () => {
  await runner.close()
  await clocks.stop()
})

async function buyer(testClock?: string): Promise<string> {
  const customerRef = await clocks.createCustomer(testClock)
  await clocks.buy(customerRef, plan.productRef, plan.planRef)
  return customerRef
}

/** Returns the digests of everything that is stored about a customer, by table. */
async function digestsOf(customerRef: string): Promise<Record<string, string>> {
  const tables = await clocks.sql<{ name: string }[]>`
    select table_name as name from information_schema.columns
    where table_schema = 'sandbox' and column_name = 'customer_ref'`
  const digests: Record<string, string> = {}
  for (const { name } of tables) {
    const [row] = await clocks.sql<{ digest: string }[]>`
      select md5(coalesce(string_agg(t::text, ' ' order by t::text), '')) as digest
      from ${clocks.sql(name)} as t where customer_ref = ${customerRef}`
    digests[name] = row!.digest
  }
  return digests
}

/** Waits until the control plane has settled the payment of a purchase, after which nothing changes by itself. */
async function untilSettled(customerRef: string): Promise<void> {
  await expect
    .poll(
      () => clocks.sql`
        select from payment_intents
        where customer_ref = ${customerRef} and (settlement_wanted or next_look_at is not null)`,
      { timeout: 20_000 },
    )
    .toHaveLength(0)
}

const advanceTo = `${clockYear}-06-01T00:00:00.000Z`

test('an advance changes nothing of customers of real time and of other clocks', async () => {
  const start = `${clockYear}-01-01T00:00:00.000Z`
  const [clock, other] = [await clocks.createClock(start), await clocks.createClock(start)]
  const moved = await buyer(clock)
  const bystanders = [await buyer(), await buyer(other)]
  for (const customerRef of bystanders) await untilSettled(customerRef)
  const before = await Promise.all(bystanders.map(digestsOf))
  await clocks.requestAdvance(clock, advanceTo)
  while ((await clocks.clock(clock)).status === 'advancing') await runner.run()
  expect(await clocks.invoicesOf(moved)).toHaveLength(5)
  expect(await Promise.all(bystanders.map(digestsOf))).toEqual(before)
  expect(await clocks.clock(other)).toMatchObject({ status: 'ready', frozenTime: start })
}, 120_000)

test('the jobs of real time leave out customers on clocks, even when all of them are due', async () => {
  const clock = await clocks.createClock(`${clockYear}-01-01T00:00:00.000Z`)
  const onClock = await buyer(clock)
  const inRealTime = await buyer()
  await untilSettled(onClock)
  const before = await digestsOf(onClock)
  const { database, eventLog, hotState } = clocks.stack
  const logger = createLogger('test', 'silent')
  const now = Date.parse(advanceTo)
  const shared = { database, eventLog, hotState, logger, clock: { now: () => now } }
  const parts = await openParts(runner.config, shared)
  const slotParts = { publisher: publisherOf(parts), logger, limits: runner.config }
  const never = new AbortController().signal
  for (const { job } of createJobs(runner.config, parts)) {
    if (job.kind === 'items') await runOnce(slotParts, job, 'sandbox', never, () => undefined)
  }
  await parts.close()
  expect((await clocks.invoicesOf(inRealTime)).length).toBeGreaterThan(1)
  expect(await digestsOf(onClock)).toEqual(before)
}, 120_000)
