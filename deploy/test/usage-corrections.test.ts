import { readBillingRunnerConfig } from '@tollgate/billing-runner/config'
import { runReconciliation } from '@tollgate/billing-runner/jobs/reconcile'
import { listUnbalancedWallets } from '@tollgate/domain/money-ledger/ledger'
import { createLogger } from '@tollgate/platform/observability/logger'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { LimitResponse, TollgateClient } from '../src/client/tollgate-client.ts'
import { createManualClock, type ManualClock } from './manual-clock.ts'
import { createCustomer } from './offers.ts'
import { createEmbeddedStack, type StackUnderTest } from './stack-under-test.ts'

/* Corrections of usage, by HTTP on all services. */

const beginMs = Date.now() + 200_000
const dayMs = 86_400_000

let underTest: StackUnderTest
let clock: ManualClock
let client: TollgateClient
let other: TollgateClient
let live: TollgateClient

beforeAll(async () => {
  clock = createManualClock(new Date(beginMs).toISOString())
  underTest = await createEmbeddedStack('ingest', {
    clock,
    hasBillingRunner: true,
    settings: { TOLLGATE_SCHEDULE_LOOK_MS: '100' },
  })
  const provider = await underTest.stack.createProvider()
  client = provider.sandbox
  live = provider.live
  other = (await underTest.stack.createProvider()).sandbox
})
afterAll(() => underTest.remove())

type Correction = {
  readonly reference: string
  readonly status: string
  readonly recordsCorrected: number
  readonly changes: readonly { meterName: string; units: number; creditsReturned?: string }[]
  readonly periods?: readonly { state: string; amountMinor: number; currency: string }[]
}

async function correct(body: Record<string, unknown>, by = client): Promise<Correction> {
  const reason = 'A faulty release counted twice'
  return (await by.require('POST', '/v1/sdk/usage-corrections', {
    reason,
    ...body,
  })) as Correction
}

type Invoice = {
  readonly reference: string
  readonly total: number
  readonly lines: readonly { readonly description: string; readonly amount: number }[]
}

/** Moves the clock by minutes until the customer has `count` invoices, and returns them, oldest first. */
async function invoicesAfter(customerRef: string, count: number): Promise<Invoice[]> {
  const path = `/v1/ui/invoices?customerRef=${customerRef}`
  const issued = async () => {
    clock.set(clock.now() + 60_000)
    return (await client.require('GET', path, undefined)) as { invoices: { reference: string }[] }
  }
  await expect
    .poll(async () => (await issued()).invoices.length, { timeout: 60_000, interval: 300 })
    .toBe(count)
  const { invoices } = await issued()
  const whole: Invoice[] = []
  for (const { reference } of invoices) {
    whole.push((await client.require('GET', `/v1/ui/invoices/${reference}`, undefined)) as Invoice)
  }
  return whole.toReversed()
}

async function buy(plan: Record<string, unknown>) {
  const { reference: productRef } = await client.createProduct({ name: 'Metered' })
  const { reference: planRef } = await client.createPlan(productRef, plan)
  const customerRef = await createCustomer(client)
  const named = { customerRef, productRef }
  await client.require('POST', '/v1/sdk/activate', { ...named, planRef })
  return { ...named, planRef }
}

const monthMs = 31 * dayMs

/** 2 cents for each of the first 1,000 requests of a month, 1 cent for all others. */
const graduated = {
  name: 'Graduated',
  type: 'usage-based',
  billingModel: 'post-paid',
  billingCycle: 'monthly',
  charges: [
    {
      meter: 'requests',
      model: 'graduated',
      per: 'period',
      tiers: [
        { upTo: 1_000, price: '2' },
        { upTo: null, price: '1' },
      ],
    },
  ],
}

test('credits a billed month at the price of its last tier, on the next invoice', async () => {
  const { customerRef, productRef } = await buy(graduated)
  const named = { customerRef, productRef }
  await client.recordUsage({ ...named, units: 1_500, idempotencyKey: 'right' })
  await client.recordUsage({ ...named, units: 1_000, idempotencyKey: 'wrong' })
  clock.set(clock.now() + monthMs + 7_200_000)
  const [first] = await invoicesAfter(customerRef, 1)
  expect(first!.lines.map(({ amount }) => amount)).toEqual([3_500])

  const request = {
    filter: {
      customerRef,
      productRef,
      from: new Date(beginMs - dayMs).toISOString(),
      to: new Date(clock.now()).toISOString(),
      meterName: 'requests',
    },
    action: 'set',
    value: 750,
  }
  // Setting both records to 750 units leaves 1,500 of 2,500.
  expect(await correct({ ...request, dryRun: true })).toMatchObject({
    recordsCorrected: 2,
    changes: [{ units: -1_000 }],
    periods: [{ state: 'billed', amountMinor: -1_000, currency: 'USD' }],
  })
  expect(await correct({ ...request, idempotencyKey: 'once' })).toMatchObject({
    status: 'applied',
    recordsCorrected: 2,
  })
  expect(await correct({ ...request, idempotencyKey: 'once' })).toMatchObject({
    recordsCorrected: 2,
  })

  await client.recordUsage({ ...named, units: 1_200 })
  clock.set(clock.now() + monthMs)
  const [, second] = await invoicesAfter(customerRef, 2)
  expect(second!.lines.map(({ amount }) => amount)).toEqual([-1_000, 2_200])
  await expectReconciled()
})

test('gives the credits of a corrected record back to the wallet and to the grants', async () => {
  const { reference: productRef } = await client.createProduct({ name: 'Paid by use' })
  const { reference: planRef } = await client.createPlan(productRef, {
    name: 'By use',
    type: 'usage-based',
    billingModel: 'pre-paid',
    creditsPerUnit: 100,
  })
  const customerRef = await createCustomer(client)
  await client.require('POST', '/v1/sdk/activate', { customerRef, productRef, planRef })
  await client.require('POST', `/v1/sdk/customers/${customerRef}/credits`, { credits: 1_000 })
  const balance = async (): Promise<unknown> =>
    client.require('GET', `/v1/sdk/customers/${customerRef}/balance`, undefined)
  const paid = { customerRef, productRef, units: 6, idempotencyKey: 'paid' }
  const { reference } = await client.recordUsage(paid)
  await client.recordUsage({ customerRef, productRef, units: 2 })
  expect(await balance()).toMatchObject({ credits: 200 })

  const record = { record: { reference, customerRef } }
  expect(await correct({ ...record, action: 'set', value: 4 })).toMatchObject({
    changes: [{ units: -2, creditsReturned: '200' }],
  })
  expect(await balance()).toMatchObject({ credits: 400 })
  expect(await correct({ ...record, action: 'remove' })).toMatchObject({
    changes: [{ units: -4, creditsReturned: '400' }],
  })
  expect(await balance()).toMatchObject({ credits: 800 })
  const sql = underTest.stack.database.in('sandbox')
  const ledger = async (): Promise<unknown> => {
    const [row] = await sql`
      select balance_micros::text as balance, remaining_micros::text as remaining
      from wallets join credit_grants using (provider_id, customer_ref)
      where customer_ref = ${customerRef}`
    return row
  }
  const posted = { balance: '800000000', remaining: '800000000' }
  await expect.poll(ledger, { timeout: 20_000 }).toEqual(posted)
  expect(await listUnbalancedWallets(sql, 10)).toEqual([])
  await expectReconciled()
})

test('takes an event away on all of its meters, by its dimensions', async () => {
  // A new provider, whose meters no cache has.
  const { sandbox: seller } = await underTest.stack.createProvider()
  const names = { tokens: 'tokens', readers: 'readers' }
  const reading = { event: { type: 'llm.call' }, dimensions: ['model'] }
  const meters = await Promise.all([
    createMeter(seller, { ...reading, name: names.tokens, aggregation: 'sum', value: '/tokens' }),
    createMeter(seller, {
      ...reading,
      name: names.readers,
      aggregation: 'unique',
      value: '/reader',
    }),
  ])
  const customerRef = await createCustomer(seller)
  const event = { specversion: '1.0', source: '/chat', type: 'llm.call', subject: customerRef }
  const data = [
    { tokens: 10, reader: 'ada', model: 'small' },
    { tokens: 20, reader: 'bob', model: 'large' },
    { tokens: 30, reader: 'bob', model: 'large' },
  ]
  for (const [index, each] of data.entries()) {
    await seller.require('POST', '/v1/events', { ...event, id: `call-${index}`, data: each })
  }
  const usage = async (): Promise<number[]> => {
    const range = {
      from: new Date(clock.now() - dayMs).toISOString(),
      to: new Date(clock.now() + dayMs).toISOString(),
      customerRef,
    }
    const found = await Promise.all(meters.map((meter) => seller.meterUsage(meter, range)))
    return found.map(({ total }) => total)
  }
  expect(await usage()).toEqual([60, 2])
  const filter = {
    customerRef,
    from: new Date(clock.now() - dayMs).toISOString(),
    to: new Date(clock.now() + dayMs).toISOString(),
  }
  const large = { ...filter, dimensions: { model: ['large'] } }
  // An event that counts on two meters has no single value.
  expect(
    await correct(
      { filter: { ...large, meterName: names.tokens }, action: 'set', value: 1 },
      seller,
    ),
  ).toMatchObject({ recordsCorrected: 0, recordsSkipped: 2 })
  expect(await correct({ filter: large, action: 'remove' }, seller)).toMatchObject({
    recordsCorrected: 2,
  })
  expect(await usage()).toEqual([10, 1])
})

test('bills a backfill of a billed month on the next invoice, for keys that may change things', async () => {
  const { customerRef, productRef } = await buy({ ...graduated, name: 'Backfilled' })
  const startMs = clock.now()
  await client.recordUsage({ customerRef, productRef, units: 100 })
  clock.set(clock.now() + monthMs + 7_200_000)
  await invoicesAfter(customerRef, 1)
  await client.recordUsage({ customerRef, productRef, units: 50 })
  clock.set(clock.now() + monthMs + 7_200_000)
  await invoicesAfter(customerRef, 2)
  const timestamp = new Date(startMs + 60_000).toISOString()
  const events = [{ customerRef, productRef, units: 1_000, timestamp, idempotencyKey: 'forgotten' }]
  const path = '/v1/sdk/usages/bulk'
  const late = await client.send('POST', path, { events })
  expect([late.status, late.body]).toMatchObject([400, { code: 'validation_failed' }])
  const { secretKey } = (await client.require('POST', '/v1/ui/api-keys', {
    name: 'Recorder',
    scopes: ['ingest'],
  })) as { secretKey: string }
  const recorder = underTest.stack.clientWithKey(secretKey)
  const refused = await recorder.send('POST', path, { events, backfill: true })
  expect([refused.status, refused.body]).toMatchObject([403, { code: 'missing_scope' }])
  expect(await client.require('POST', path, { events, backfill: true })).toMatchObject({
    inserted: 1,
  })
  expect(await client.require('POST', path, { events, backfill: true })).toMatchObject({
    inserted: 0,
  })
  clock.set(clock.now() + monthMs + 7_200_000)
  const invoices = await invoicesAfter(customerRef, 3)
  // 900 units of the first tier and 100 of the second one.
  expect(invoices.at(-1)!.lines.map(({ amount }) => amount)).toContain(1_900)
  await expectReconciled()
})

test('waits for a usage store that is behind, and applies the correction afterwards', async () => {
  const { customerRef, productRef } = await buy({ ...graduated, name: 'Behind' })
  await underTest.stack.stopProjections()
  const { reference } = await client.recordUsage({ customerRef, productRef, units: 5 })
  const requested = await correct({ record: { reference, customerRef }, action: 'remove' })
  expect(requested).toMatchObject({ recordsCorrected: 0 })
  expect(['requested', 'applying']).toContain(requested.status)
  await underTest.stack.startProjections()
  const read = (): Promise<unknown> =>
    client.require('GET', `/v1/sdk/usage-corrections/${requested.reference}`, undefined)
  await expect
    .poll(read, { timeout: 30_000 })
    .toMatchObject({ status: 'applied', recordsCorrected: 1 })
})

async function createMeter(by: TollgateClient, meter: Record<string, unknown>): Promise<string> {
  const made = await by.require('POST', '/v1/ui/meters', { displayName: 'Meter', ...meter })
  return (made as { reference: string }).reference
}

/** Compares counters, wallets and invoices with the records. */
async function expectReconciled(): Promise<void> {
  const { stack } = underTest
  const { database, eventLog, hotState, usageStore } = stack
  const config = readBillingRunnerConfig({
    ...stack.environment,
    TOLLGATE_RECONCILE_GRACE_MINUTES: '0',
  })
  const parts = {
    ...{ clock, database, eventLog, hotState, usageStore, tracing: undefined, charge: undefined },
    logger: createLogger('test', 'silent'),
    processors: { of: () => undefined, close: () => Promise.resolve() },
  }
  const request = { environment: 'sandbox', since: new Date(beginMs - dayMs) } as const
  const { reports } = await runReconciliation(config, parts, request)
  expect(reports.flatMap(({ findings }) => findings)).toEqual([])
  // Without a payment processor, what it knows is not compared.
  const ofProcessor = ['payment', 'refund', 'dispute', 'payout', 'posting']
  const gaps = reports.flatMap((report) => report.gaps.map(({ kind }) => kind as string))
  expect(gaps.filter((kind) => !ofProcessor.includes(kind))).toEqual([])
}

test('lowers the counters immediately and only once, and never with the key of another provider', async () => {
  const path = '/v1/sdk/usage-corrections'
  const { status, body } = await client.send('POST', path, { action: 'remove', reason: 'x' })
  expect([status, body]).toMatchObject([400, { code: 'validation_failed' }])
  for (const timestamp of [8_640_000_000_000_001, 300_000_000_000_000]) {
    const usages = [{ customerRef: 'user_1', productRef: '', timestamp }]
    const noted = await client.send('POST', `${path}/backfills`, { usages })
    expect([noted.status, noted.body]).toMatchObject([400, { code: 'validation_failed' }])
  }
  const { customerRef, productRef } = await buy({
    name: 'As you go',
    type: 'usage-based',
    billingModel: 'post-paid',
    creditsPerUnit: 100,
    limit: 1_000,
  })
  const named = { customerRef, productRef }
  const check = (): Promise<LimitResponse> => client.checkLimit(customerRef, productRef)
  const recorded = await client.recordUsage({ ...named, units: 700 })
  expect(await check()).toMatchObject({ remaining: 300 })
  const request = { record: { reference: recorded.reference }, action: 'remove', reason: 'wrong' }

  for (const stranger of [other, live]) {
    const foreign = (await stranger.require('POST', path, request)) as Correction
    expect(foreign).toMatchObject({ status: 'applied', recordsCorrected: 0, changes: [] })
  }
  expect(await check()).toMatchObject({ remaining: 300 })

  const dryRun = await correct({ ...request, dryRun: true })
  expect(dryRun).toMatchObject({
    recordsCorrected: 1,
    changes: [{ meterName: 'requests', units: -700 }],
    periods: [{ state: 'open', amountMinor: -700, currency: 'USD' }],
  })
  expect(dryRun).not.toHaveProperty('reference')
  expect(await check()).toMatchObject({ remaining: 300 })

  const done = await correct(request)
  expect(done).toMatchObject({
    status: 'applied',
    recordsCorrected: 1,
    changes: [{ meterName: 'requests', units: -700 }],
  })
  expect(await check()).toMatchObject({ remaining: 1_000 })
  // A second correction finds nothing left.
  expect(await correct(request)).toMatchObject({ status: 'applied', recordsCorrected: 0 })
  expect(await check()).toMatchObject({ remaining: 1_000 })

  const found = await other.send('GET', `${path}/${done.reference}`)
  expect([found.status, found.body]).toMatchObject([404, { code: 'usage_correction_not_found' }])
  const page = (await client.require('GET', path, undefined)) as { corrections: Correction[] }
  expect(page.corrections.map(({ reference }) => reference)).toContain(done.reference)
})
