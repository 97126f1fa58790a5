import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { PurchaseBody } from '@tollgate/schemas/http/purchases'
import type { TollgateClient } from '../src/client/tollgate-client.ts'
import { createCustomer } from './offers.ts'
import { createEmbeddedStack, type StackUnderTest } from './stack-under-test.ts'

/* Overrides of a customer, from the management API to the data plane, and what clients see of charges. */

let underTest: StackUnderTest
let client: TollgateClient

beforeAll(async () => {
  underTest = await createEmbeddedStack('ingest')
  client = (await underTest.stack.createProvider()).sandbox
  for (const name of ['tokens', 'images']) {
    await client.require('POST', '/v1/ui/meters', { name, aggregation: 'sum' })
  }
})
afterAll(() => underTest.remove())

type Named = { readonly customerRef: string; readonly productRef: string }

const send = async <Body>(method: string, path: string, body?: unknown): Promise<Body> => {
  const answer = await client.send(method, path, body)
  expect([answer.status, answer.body]).toEqual([200, answer.body])
  return answer.body as Body
}
const check = (named: Named, more: object = {}) =>
  send<Record<string, unknown>>('POST', '/v1/sdk/limits', { ...named, ...more })
const count = (named: Named, meterName: string, value: number) =>
  send('POST', '/v1/sdk/meter-events', { ...named, meterName, value })
const override = ({ customerRef, productRef }: Named, body: object) =>
  send('PUT', `/v1/ui/customers/${customerRef}/products/${productRef}/overrides`, body)

async function createProduct(...plans: readonly object[]): Promise<string> {
  const { reference } = await client.createProduct({ name: randomUUID() })
  for (const plan of plans) await client.createPlan(reference, { name: 'Plan', ...plan })
  return reference
}

const free = { type: 'recurring', price: 0, billingCycle: 'monthly' }

test('caps and limits act with the response, follow a change of plan, and end with their removal', async () => {
  const productRef = await createProduct(
    { ...free, name: 'Small', default: true, charges: [{ meter: 'tokens', cap: 10 }] },
    { ...free, name: 'Other', charges: [{ meter: 'tokens', cap: 20 }] },
  )
  const named = { customerRef: await createCustomer(client), productRef }
  expect(await check(named)).toMatchObject({ remaining: 10 })
  await count(named, 'tokens', 10)
  expect(await check(named)).toMatchObject({ withinLimits: false })
  await override(named, {
    charges: [{ charge: 'tokens', cap: 50 }],
    usageLimits: [{ key: 'rate', meter: 'tokens', cap: 30, per: 'hour' }],
  })
  expect(await check(named, { includeLimits: true })).toMatchObject({
    withinLimits: true,
    limits: [
      { limit: 'tokens', cap: 50, used: 10, remaining: 40 },
      { limit: 'rate', cap: 30 },
    ],
  })
  // A customer without overrides keeps the terms of the plan.
  const other = { customerRef: await createCustomer(client), productRef }
  expect(await check(other)).toMatchObject({ remaining: 10 })

  const [, second] = await client.listPlans(productRef)
  await send('POST', '/v1/sdk/activate', { ...named, planRef: second!.reference })
  expect(await check(named, { meterName: 'tokens', includeLimits: true })).toMatchObject({
    plan: second!.reference,
    limits: [{ limit: 'tokens', cap: 50 }, { limit: 'rate' }],
  })
  const path = `/v1/ui/customers/${named.customerRef}/products/${productRef}/overrides`
  await send('DELETE', path)
  expect(await check(named, { includeLimits: true })).toMatchObject({
    limits: [{ limit: 'tokens', cap: 20 }],
  })
})

test('a removed limit limits no longer, and is back with the next overrides', async () => {
  const productRef = await createProduct({
    ...{ ...free, default: true, charges: [{ meter: 'tokens', cap: 100 }] },
    usageLimits: [{ key: 'rate', meter: 'tokens', cap: 5, per: 'hour' }],
  })
  const named = { customerRef: await createCustomer(client), productRef }
  await check(named)
  await count(named, 'tokens', 5)
  expect(await check(named)).toMatchObject({ withinLimits: false })
  await override(named, { usageLimits: [{ key: 'rate', cap: null }] })
  expect(await check(named, { includeLimits: true })).toMatchObject({
    ...{ withinLimits: true, remaining: 95 },
    limits: [{ limit: 'tokens' }],
  })
  await override(named, { charges: [{ charge: 'tokens', cap: 50 }] })
  expect(await check(named)).toMatchObject({ withinLimits: false })
})

test('a new price of a wallet acts on purchases that begin later, not on the running period', async () => {
  const plan = { type: 'usage-based', billingCycle: 'monthly' }
  const charges = [{ meter: 'tokens', creditsPerUnit: '2' }]
  const productRef = await createProduct({ ...plan, charges }, { ...plan, name: 'Next', charges })
  const [first, second] = await client.listPlans(productRef)
  const customerRef = await createCustomer(client)
  const named = { customerRef, productRef }
  await send('POST', `/v1/sdk/customers/${customerRef}/credits`, { credits: 1000 })
  await send('POST', '/v1/sdk/activate', { ...named, planRef: first!.reference })
  // Periods begin at whole seconds, and a change in the same second is before the period.
  await new Promise((resolve) => setTimeout(resolve, 1_100))
  await override(named, { charges: [{ charge: 'tokens', creditsPerUnit: '0.5' }] })
  const debit = async () => {
    const event = { ...named, meterName: 'tokens', value: 10 }
    await send('POST', '/v1/sdk/meter-events', event)
    return (await check(named, { meterName: 'tokens' }))['creditBalance']
  }
  expect(await debit()).toBe(980)
  await send('POST', '/v1/sdk/activate', { ...named, planRef: second!.reference })
  expect(await debit()).toBe(975)
})

test('a refusal offers the charges of the plans', async () => {
  const charges = [
    { key: 'text', displayName: 'Text', meter: 'tokens', price: '0.0003', included: 5, cap: 100 },
  ]
  const productRef = await createProduct(
    { ...free, default: true, charges: [{ meter: 'tokens', cap: 1 }] },
    { type: 'usage-based', billingModel: 'post-paid', charges },
  )
  const named = { customerRef: await createCustomer(client), productRef }
  await check(named)
  await count(named, 'tokens', 1)
  const denied = await check(named)
  const offered = {
    ...{ charge: 'text', displayName: 'Text', meterName: 'tokens', model: 'per_unit' },
    ...{ price: '0.0003', included: 5, cap: 100 },
  }
  expect(denied['plans']).toMatchObject([
    { charges: [{ charge: 'tokens', meterName: 'tokens', model: 'per_unit', cap: 1 }] },
    { charges: [offered] },
  ])
})

test('purchases and user info show the usage of each charge and limit', async () => {
  const productRef = await createProduct({
    ...{ type: 'usage-based', billingModel: 'post-paid' },
    charges: [
      { meter: 'tokens', displayName: 'Tokens', price: '2', included: 10, cap: 100 },
      { meter: 'images', price: '5' },
    ],
    usageLimits: [{ key: 'rate', meter: 'tokens', cap: 40, per: 'rolling', rollingSeconds: 3600 }],
  })
  const [plan] = await client.listPlans(productRef)
  const customerRef = await createCustomer(client)
  const named = { customerRef, productRef }
  await send('POST', '/v1/sdk/activate', { ...named, planRef: plan!.reference })
  await count(named, 'tokens', 12.5)
  await count(named, 'images', 3)
  const resetsAt = expect.stringMatching(/^\d{4}-.*Z$/) as string
  const expected = {
    charges: [
      {
        ...{ charge: 'tokens', displayName: 'Tokens', meterName: 'tokens', used: 12.5 },
        ...{ included: 10, cap: 100, remaining: 87.5, cost: 5, resetsAt },
      },
      { charge: 'images', meterName: 'images', used: 3, cost: 15, resetsAt },
    ],
    limits: [
      { limit: 'rate', meterName: 'tokens', used: 12.5, cap: 40, remaining: 27.5, resetsAt },
    ],
  }
  const path = `/v1/sdk/purchases/customer/${customerRef}`
  const { purchases } = await send<{ purchases: PurchaseBody[] }>('GET', path)
  expect(purchases[0]!.usage).toMatchObject(expected)
  expect(purchases[0]!.planSnapshot).toMatchObject({ usageLimits: [{ key: 'rate' }] })
  type UserInfo = { readonly purchase: { readonly usage: object } }
  const info = await send<UserInfo>('POST', '/v1/sdk/user-info', named)
  expect(info.purchase.usage).toMatchObject(expected)
})

test('a plan without charges shows no charges', async () => {
  const productRef = await createProduct({ ...free, default: true, limit: 5 })
  const customerRef = await createCustomer(client)
  await check({ customerRef, productRef })
  type UserInfo = { readonly purchase: { readonly usage: object } }
  const info = await send<UserInfo>('POST', '/v1/sdk/user-info', { customerRef, productRef })
  expect(info.purchase.usage).toEqual({ total: 5, used: 0, remaining: 5, percentUsed: 0 })
})
