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

async function correct(body: Record<string, unknown>): Promise<Correction> {
  const reason = 'A faulty release counted twice'
  return (await client.require('POST', '/v1/sdk/usage-corrections', {
    reason,
    ...body,
  })) as Correction
}

type Invoice = {
  readonly reference: string
  readonly total: number
  readonly lines: readonly { readonly description: string; readonly amount: number }[]
}

/** Lets minutes pass until the customer has so many invoices, and returns them, oldest first. */
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

test('a billed month is credited at the price of its last tier, and the open month counts less at once', async () => {
  const tiers = [
    { name: 'First', minUsage: 0, maxUsage: 1_000, creditsPerUnit: 100 },
    { name: 'Rest', minUsage: 1_001, creditsPerUnit: 50 },
  ]
  const { customerRef, productRef } = await buy({
    name: 'Graduated',
    type: 'hybrid',
    basePrice: 100,
    billingCycle: 'monthly',
    usageTiers: tiers,
    usageTierMode: 'graduated',
    limit: 100_000,
    overageEnabled: true,
  })
  const named = { customerRef, productRef }
  await client.recordUsage({ ...named, units: 1_500, idempotencyKey: 'right' })
  await client.recordUsage({ ...named, units: 1_000, idempotencyKey: 'wrong' })
  const first = await invoicesAfter(customerRef, 1)
  expect(first).toHaveLength(1)
})

test('answers a wrong request, another provider and another environment with refusals', async () => {
  const path = '/v1/sdk/usage-corrections'
  const { status, body } = await client.send('POST', path, { action: 'remove', reason: 'x' })
  expect([status, body]).toMatchObject([400, { code: 'validation_failed' }])
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
  void dayMs
})
