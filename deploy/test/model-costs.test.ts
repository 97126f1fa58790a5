import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TollgateClient } from '../src/client/tollgate-client.ts'
import { createCustomer } from './offers.ts'
import { createEmbeddedStack, type StackUnderTest } from './stack-under-test.ts'

/* What calls of language models cost the provider: computed by ingest, stored with the record, and sold with a markup. */

let underTest: StackUnderTest
let client: TollgateClient

beforeAll(async () => {
  underTest = await createEmbeddedStack('ingest')
  client = (await underTest.stack.createProvider()).sandbox
})
afterAll(() => underTest.remove())

type Body = Record<string, unknown>

const tokens = {
  inputTokens: '/usage/prompt_tokens',
  cacheReadTokens: '/usage/cached_tokens',
  outputTokens: '/usage/completion_tokens',
}

async function createMeter(name: string, type: string, modelCost: object): Promise<Body> {
  const meter = { name, unit: '10^-6 USD', event: { type }, dimensions: ['model'] }
  const created = await client.require('POST', '/v1/ui/meters', { ...meter, modelCost })
  // Ingest uses the meters that it has read for up to a second.
  await sleep(1_200)
  return created as Body
}

function send(customerRef: string, productRef: string, type: string, data: object, id?: string) {
  return client.send('POST', '/v1/events', {
    ...{ specversion: '1.0', id: id ?? randomUUID(), source: '/test', type },
    ...{ subject: customerRef, productref: productRef, data },
  })
}

const calls = [
  { model: 'gpt-4o', usage: { prompt_tokens: 1_000, cached_tokens: 400, completion_tokens: 100 } },
  { model: 'gpt-4o-mini', usage: { prompt_tokens: 3, completion_tokens: 1 } },
  { model: 'own-model', usage: { prompt_tokens: 1_000, completion_tokens: 1_000 } },
] as const

/**
 * Costs in 10^-6 dollars: 600 × $2.50 + 400 × $1.25 + 100 × $10, then 3 × $0.15 + 1 × $0.60, then 1,000 × $0.07 + 1,000 × $0.20, by
 * prices per million tokens.
 */
const costs = [3_000, 1.05, 270] as const

/** Customers pay 0.012 credits for each 10^-6 dollars of cost. */
const credits = ['36', '0.0126', '3.24'] as const

const ownPrice = { model: 'own-model', input: '0.07', output: '0.2' }

test('sells models at their cost with a markup of 20 percent, and refuses what has no price', async () => {
  const created = await createMeter('model_cost', 'sold', {
    ...tokens,
    ...{ prices: [ownPrice], unknownModel: 'refuse' },
  })
  expect(created).toMatchObject({ dimensions: ['model', 'model_cost:price'], version: 1 })
  const { reference: productRef } = await client.createProduct({ name: 'Sold models' })
  // 10^-6 dollars are 0.01 credits.
  await client.createPlan(productRef, {
    ...{ name: 'At cost', type: 'usage-based' },
    charges: [{ meter: 'model_cost', creditsPerUnit: '0.012' }],
  })
  const [plan] = await client.listPlans(productRef)
  const customerRef = await createCustomer(client)
  await client.require('POST', `/v1/sdk/customers/${customerRef}/credits`, { credits: 1_000 })
  await client.require('POST', '/v1/sdk/activate', {
    ...{ customerRef, productRef, planRef: plan!.reference },
  })

  for (const [at, call] of calls.entries()) {
    const { status, body } = await send(customerRef, productRef, 'sold', call)
    expect([status, body]).toMatchObject([
      200,
      { counts: [{ meterName: 'model_cost', value: costs[at] }] },
    ])
    expect(body).toMatchObject({ creditDebit: { charges: [{ credits: credits[at] }] } })
  }
  // A refused event is not recorded, so it can be sent again when its model has a price.
  const unknown = { ...calls[0], model: 'newest-model' }
  const refused = await send(customerRef, productRef, 'sold', unknown, 'again')
  expect(refused.status).toBe(400)
  expect(JSON.stringify(refused.body)).toContain('the model \\"newest-model\\" has no price')
  const path = `/v1/ui/meters/${created['reference'] as string}`
  const prices = [ownPrice, { model: 'newest-model', input: '2', cacheRead: '1', output: '3' }]
  const changed = await client.require('PATCH', path, {
    modelCost: { ...tokens, prices, unknownModel: 'refuse' },
  })
  expect(changed).toMatchObject({ version: 2, modelCost: { prices } })
  await sleep(1_200)
  const accepted = await send(customerRef, productRef, 'sold', unknown, 'again')
  const newest = 1_900
  expect(accepted.body).toMatchObject({ counts: [{ value: newest }] })

  const usage = await usageOf(created, 'groupBy=model_cost:price')
  expect(usage).toMatchObject({
    count: 4,
    groups: [
      {
        dimensions: { 'model_cost:price': 'genai-prices@0.1.8' },
        value: 3_001.05,
        count: 2,
      },
      { dimensions: { 'model_cost:price': 'own' }, value: 2_170, count: 2 },
    ],
  })

  // 5,171.05 × 10^-6 dollars of cost, and 0.012 credits for each of them at 10^-4 dollars a credit.
  const marginPath = `/v1/ui/customers/${customerRef}/margin`
  expect(await get(`${marginPath}?from=2026-01-01&to=2100-01-01`)).toMatchObject({
    customerRef,
    cost: '0.00517105',
    unpricedCalls: 0,
    debitedCredits: '62.0526',
    invoiced: [],
    margin: '0.00103421',
  })
  expect(await get(`${marginPath}?from=2025-01-01&to=2025-02-01`)).toMatchObject({
    ...{ cost: '0', debitedCredits: '0', margin: '0' },
  })
  const reversed = await client.send('GET', `${marginPath}?from=2026-02-01&to=2026-01-01`)
  expect(reversed.status).toBe(400)
  const ofUnknown = '/v1/ui/customers/cus_unknown/margin?from=2026-01-01&to=2026-02-01'
  expect((await client.send('GET', ofUnknown)).status).toBe(404)

  // Plans may charge the meter, so it must not begin to record calls that cost nothing.
  const weaker = await client.send('PATCH', path, { modelCost: { ...tokens, prices } })
  expect(weaker.status).toBe(400)
  expect(JSON.stringify(weaker.body)).toContain('would be free')
})

test('shows calls of models without a price as unpriced, and no plan can charge them', async () => {
  const created = await createMeter('seen_cost', 'seen', tokens)
  const { reference: productRef } = await client.createProduct({ name: 'Seen models' })
  const customerRef = await createCustomer(client)
  for (const model of ['gpt-4o', 'unlisted-model', 'unlisted-model']) {
    // The price of a record cannot be named by its client.
    const call = { ...calls[0], model, 'seen_cost:price': 'own' }
    expect((await send(customerRef, productRef, 'seen', call)).status).toBe(200)
  }
  const usage = await usageOf(created, 'groupBy=model&groupBy=seen_cost:price')
  expect(usage).toMatchObject({
    total: costs[0],
    groups: [
      { dimensions: { model: 'gpt-4o', 'seen_cost:price': 'genai-prices@0.1.8' }, count: 1 },
      {
        dimensions: { model: 'unlisted-model', 'seen_cost:price': 'unpriced' },
        value: 0,
        count: 2,
      },
    ],
  })
  const range = 'from=2026-01-01&to=2100-01-01'
  const marginPath = `/v1/ui/customers/${customerRef}/margin?${range}`
  expect(await get(marginPath)).toMatchObject({
    cost: '0.003',
    unpricedCalls: 2,
    margin: '-0.003',
  })
  const plan = { type: 'usage-based', charges: [{ meter: 'seen_cost', creditsPerUnit: '0.01' }] }
  const path = `/v1/sdk/products/${productRef}/plans`
  const refused = await client.send('POST', path, { name: 'Free models', ...plan })
  expect(refused.status).toBe(400)
  expect(JSON.stringify(refused.body)).toContain('would be free')
})

test.each([
  ['a vendor that the list does not have', { modelCost: { ...tokens, provider: 'opnai' } }],
  ['no event', { event: undefined, modelCost: tokens }],
  ['a value', { value: '/usage/total', modelCost: tokens }],
  ['another aggregation than sum', { aggregation: 'max', modelCost: tokens }],
  ['two prices of a model', { modelCost: { ...tokens, prices: [ownPrice, ownPrice] } }],
  [
    'a price with 13 decimals',
    { modelCost: { ...tokens, prices: [{ ...ownPrice, input: '0.0000000000001' }] } },
  ],
])('refuses a meter of model costs with %s', async (_title, fields) => {
  const meter = { name: randomUUID(), event: { type: 'refused' }, ...fields }
  expect((await client.send('POST', '/v1/ui/meters', meter)).status).toBe(400)
})

async function usageOf({ reference }: Body, query: string): Promise<unknown> {
  const range = 'from=2026-01-01&to=2100-01-01'
  return get(`/v1/ui/meters/${reference as string}/usage?${range}&${query}`)
}

/** Returns the response, once the sink has stored what was recorded before. Until then, such requests are answered 503. */
async function get(path: string): Promise<unknown> {
  const answer = async () => {
    const { status, body } = await client.send('GET', path)
    return status === 503 ? undefined : body
  }
  await expect.poll(answer, { timeout: 60_000 }).toBeDefined()
  return answer()
}
