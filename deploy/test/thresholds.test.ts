import { afterAll, beforeAll, expect, test } from 'vitest'
import type { LimitResponse, TollgateClient } from '../src/client/tollgate-client.ts'
import { createManualClock, type ManualClock } from './manual-clock.ts'
import { createCustomer } from './offers.ts'
import { createEmbeddedStack, type StackUnderTest } from './stack-under-test.ts'

/* A plan that bills within its periods, by HTTP on all services, with the schedules that they have by default. */

/** Near the time of the machine, by which hot state decides what it keeps. */
const beginMs = Date.now() + 200_000
const minuteMs = 60_000
const monthMs = 31 * 24 * 60 * minuteMs

let underTest: StackUnderTest
let clock: ManualClock
let client: TollgateClient

beforeAll(async () => {
  clock = createManualClock(new Date(beginMs).toISOString())
  underTest = await createEmbeddedStack('ingest', {
    clock,
    hasBillingRunner: true,
    settings: { TOLLGATE_SCHEDULE_LOOK_MS: '100' },
  })
  client = (await underTest.stack.createProvider()).sandbox
})
afterAll(() => underTest.remove())

/** A request costs 1 cent. */
const asYouGo = {
  name: 'As you go',
  type: 'usage-based',
  billingModel: 'post-paid',
  creditsPerUnit: 100,
  maxUnbilledMinor: 800,
  billAtUnbilledMinor: 500,
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
    clock.set(clock.now() + minuteMs)
    return (await client.require('GET', path, undefined)) as { invoices: { reference: string }[] }
  }
  await expect
    .poll(async () => (await issued()).invoices.length, { timeout: 60_000, interval: 300 })
    .toBe(count)
  const { invoices } = await issued()
  const whole: Invoice[] = []
  for (const { reference } of invoices) {
    const got = await client.require('GET', `/v1/ui/invoices/${reference}`, undefined)
    whole.push(got as Invoice)
  }
  return whole.toReversed()
}

test('bills usage at the amount, counts unbilled usage from there, and bills the rest with the period', async () => {
  const { reference: productRef } = await client.createProduct({ name: 'Metered' })
  const plan = await client.createPlan(productRef, asYouGo)
  const customerRef = await createCustomer(client)
  const named = { customerRef, productRef }
  await client.require('POST', '/v1/sdk/activate', { ...named, planRef: plan.reference })
  const check = (): Promise<LimitResponse> => client.checkLimit(customerRef, productRef)
  await client.recordUsage({ ...named, units: 700 })
  expect(await check()).toMatchObject({ withinLimits: true, remaining: 100 })

  const [first] = await invoicesAfter(customerRef, 1)
  expect(first).toMatchObject({ total: 700, lines: [{ amount: 700 }] })
  expect(first!.lines[0]!.description).toMatch(/^As you go, usage, until 20.{14} UTC$/)
  await expect.poll(check, { timeout: 20_000 }).toMatchObject({ remaining: 800 })

  // The invoice is open, because no processor is configured, so the rest waits for the end of the period.
  await client.recordUsage({ ...named, units: 600 })
  expect(await check()).toMatchObject({ withinLimits: true, remaining: 200 })
  clock.set(beginMs + monthMs + 120 * minuteMs)
  const invoices = await invoicesAfter(customerRef, 2)
  expect(invoices[1]).toMatchObject({ total: 600, lines: [{ amount: 600 }] })
  expect(invoices[1]!.lines[0]!.description).toMatch(/^As you go, usage, from 20.{14} UTC$/)
  expect(await check()).toMatchObject({ withinLimits: true, remaining: 800 })
})

test('refuses the amount for plans that cannot be billed within a period', async () => {
  const { reference } = await client.createProduct({ name: 'Refused' })
  const tiers = [{ name: 'All', minUsage: 0, creditsPerUnit: 100 }]
  const charge = { meter: 'requests', model: 'volume', tiers: [{ upTo: null, price: '1' }] }
  const refusals = [
    [
      { type: 'hybrid', basePrice: 100, usageTiers: tiers, usageTierMode: 'volume' },
      /volume prices/,
    ],
    [{ charges: [{ ...charge, per: 'period' }] }, /volume prices/],
    [{ creditsPerUnit: 1, billAtUnbilledMinor: 49 }, /can be charged in USD: from 50 to 99999999/],
    [{ creditsPerUnit: 1, maxUnbilledMinor: 500 }, /`maxUnbilledMinor` stops usage before/],
    [{ type: 'recurring', price: 900 }, /Only post-paid and hybrid plans/],
    [{ billingModel: 'pre-paid', creditsPerUnit: 1 }, /Only post-paid and hybrid plans/],
  ] as const
  const { creditsPerUnit: _priced, maxUnbilledMinor: _limited, ...unpriced } = asYouGo
  for (const [refused, message] of refusals) {
    const path = `/v1/sdk/products/${reference}/plans`
    const { status, body } = await client.send('POST', path, { ...unpriced, ...refused })
    const own = (body as { errors: { path: string[]; message: string }[] }).errors.filter(
      (error) => error.path[0] === 'billAtUnbilledMinor',
    )
    expect([refused, status, own]).toEqual([
      refused,
      400,
      [expect.objectContaining({ message: expect.stringMatching(message) as string })],
    ])
    expect(body).toMatchObject({ code: 'validation_failed' })
  }
  // 0 is no amount, on any plan.
  const free = { name: 'Free', type: 'recurring', price: 0, billAtUnbilledMinor: 0 }
  expect(await client.createPlan(reference, free)).toMatchObject({ billAtUnbilledMinor: 0 })
})
