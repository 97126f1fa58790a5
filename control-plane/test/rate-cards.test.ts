import { afterAll, beforeAll, expect, test } from 'vitest'
import type { PlanBody } from '@tollgate/schemas/http/plans'
import type { PriceCurveBody, PricePreviewBody } from '@tollgate/schemas/http/price-preview'
import type { ProductBody } from '@tollgate/schemas/http/products'
import { startTestStack, type Tenant, type TestStack } from './test-stack.ts'

/* Plans with charges over HTTP: they are validated, shown as stored and previewed. */

let stack: TestStack
let tenant: Tenant
let plans: string

beforeAll(async () => {
  stack = await startTestStack()
  tenant = await stack.createTenant()
  await call('POST', '/v1/ui/meters', { name: 'tokens', aggregation: 'sum' })
  await call('POST', '/v1/ui/meters', {
    ...{ name: 'images', event: { type: 'image' }, value: '/count', dimensions: ['model'] },
  })
  const product = await call<ProductBody>('POST', '/v1/sdk/products', { name: 'Studio' })
  plans = `/v1/sdk/products/${product.body.reference}/plans`
})
afterAll(() => stack.stop())

async function call<Body>(method: string, path: string, body?: unknown, key = tenant.sandboxKey) {
  return stack.call<Body>(key, method, path, body)
}

const tokens = {
  key: 'tokens',
  meter: 'tokens',
  model: 'per_unit',
  price: '0.0003',
  included: 1_000,
}
const images = {
  meter: 'images',
  model: 'matrix',
  price: '4',
  rows: [{ when: { model: 'large' }, price: '8' }],
}
const studio = {
  name: 'Studio',
  type: 'usage-based',
  billingModel: 'post-paid',
  charges: [tokens, images],
}

async function createStudio(): Promise<PlanBody> {
  const { status, body } = await call<PlanBody>('POST', plans, studio)
  expect([status, body]).toMatchObject([201, { charges: studio.charges }])
  return body
}

test('shows charges as stored, and requires payment', async () => {
  const created = await createStudio()
  expect(created.requiresPayment).toBe(true)
  const { body } = await call<PlanBody>('GET', `${plans}/${created.reference}`)
  expect(body).toEqual(created)
  const charges = [{ ...tokens, price: '0.0005' }]
  const changed = await call<PlanBody>('PUT', `${plans}/${created.reference}`, { charges })
  expect([changed.status, changed.body]).toMatchObject([200, { charges }])
})

test('refuses an unknown meter and prices with too many decimals', async () => {
  const refused = async (charge: object) => {
    const { status, body } = await call<{ errors: { path: unknown[] }[] }>('POST', plans, {
      ...studio,
      charges: [{ ...tokens, ...charge }],
    })
    return [status, body.errors.map(({ path }) => path)]
  }
  expect(await refused({ meter: 'nothing' })).toEqual([400, [['charges', 0, 'meter']]])
  expect(await refused({ price: '0.0000000000001' })).toEqual([400, [['charges', 0, 'price']]])
})

test('clones a plan with charges only while their meters are active', async () => {
  await createStudio()
  const product = plans.replace(/\/plans$/, '')
  expect((await call('POST', `${product}/clone`, {})).status).toBe(201)
  const { body } = await call<{ meters: { name: string; reference: string }[] }>(
    'GET',
    '/v1/ui/meters',
  )
  const meterPath = `/v1/ui/meters/${body.meters.find(({ name }) => name === 'images')!.reference}`
  await call('PATCH', meterPath, { status: 'archived' })
  const { status } = await call('POST', `${product}/clone`, {})
  await call('PATCH', meterPath, { status: 'active' })
  expect(status).toBe(400)
})

test('previews prices for keys that only read, and stores nothing', async () => {
  const { reference } = await createStudio()
  const scopes = ['read']
  const key = await call<{ secretKey: string }>('POST', '/v1/ui/api-keys', {
    name: 'Reader',
    scopes,
  })
  const usage = [
    { meter: 'tokens', units: 1_001_000 },
    { meter: 'images', units: 2, dimensions: { model: 'large' } },
    { meter: 'images', units: 1.5 },
    { meter: 'requests', units: 9 },
  ]
  const { status, body } = await call<PricePreviewBody>(
    'POST',
    `${plans}/${reference}/price-preview`,
    { usage },
    key.body.secretKey,
  )
  expect([status, body]).toEqual([
    200,
    {
      currency: 'USD',
      lines: [
        {
          charge: 'tokens',
          displayName: 'tokens',
          meterName: 'tokens',
          units: '1001000',
          pricedIn: 'minor',
          prices: [{ units: '1000000', price: '0.0003' }],
          amount: 300,
        },
        {
          charge: 'images',
          displayName: 'images',
          meterName: 'images',
          units: '3.5',
          pricedIn: 'minor',
          prices: [
            { units: '2', price: '8' },
            { units: '1.5', price: '4' },
          ],
          amount: 22,
        },
      ],
      unpriced: [{ meter: 'requests', units: 9 }],
      total: 322,
    },
  ])
  const other = await call('POST', `${plans}/${reference}/price-preview`, {
    usage,
    currency: 'eur',
  })
  expect(other).toMatchObject({ status: 400, body: { errors: [{ path: ['currency'] }] } })
})

test('previews what the minimum of a plan adds', async () => {
  const terms = { type: 'usage-based', billingModel: 'post-paid', billingCycle: 'monthly' }
  const charges = [{ meter: 'tokens', model: 'per_unit', price: '1', per: 'period' }]
  const committed = { name: 'Committed', ...terms, charges, minimumCommitment: 500 }
  const { reference } = (await call<PlanBody>('POST', plans, committed)).body
  const preview = async (units: number) => {
    const usage = [{ meter: 'tokens', units }]
    const path = `${plans}/${reference}/price-preview`
    return (await call<PricePreviewBody>('POST', path, { usage })).body
  }
  expect(await preview(200)).toMatchObject({ lines: [{ amount: 200 }], minimum: 300, total: 500 })
  const more = await preview(700)
  expect([more.total, more.minimum]).toEqual([700, undefined])
})

test('previews plans without charges', async () => {
  const terms = {
    type: 'usage-based',
    billingModel: 'post-paid',
    creditsPerUnit: 50,
    freeUnits: 10,
  }
  const plan = await call<PlanBody>('POST', plans, { name: 'Old', ...terms })
  const { body } = await call<PricePreviewBody>(
    'POST',
    `${plans}/${plan.body.reference}/price-preview`,
    { usage: [{ meter: 'requests', units: 30 }] },
  )
  expect(body.lines).toEqual([
    {
      meterName: 'requests',
      units: '30',
      pricedIn: 'credits',
      prices: [{ units: '20', price: '50' }],
      amount: 10,
    },
  ])
})

const hybrid = {
  name: 'Team',
  type: 'hybrid',
  billingModel: 'post-paid',
  billingCycle: 'monthly',
  price: 2_000,
  minimumCommitment: 150,
  charges: [{ ...tokens, price: '0.05' }],
}

test('prices changes that are not saved like the plan that was updated with them', async () => {
  const { reference } = (await call<PlanBody>('POST', plans, hybrid)).body
  const path = `${plans}/${reference}`
  const tiers = [
    { upTo: 2_000, price: '0.2', flatPrice: '7' },
    { upTo: null, price: '0.015' },
  ]
  const { price: _, ...rest } = tokens
  const changes = { price: 2_500, charges: [{ ...rest, model: 'graduated', tiers }, images] }
  const units = [0, 1_000, 1_001, 2_999, 3_000, 3_001, 250_000.5]
  const beside = [{ meter: 'images', units: 3, dimensions: { model: 'large' } }]
  const curve = { meter: 'tokens', units, usage: beside }
  const unsaved = await call<PriceCurveBody>('POST', `${path}/price-curve`, { ...curve, changes })
  expect((await call<PlanBody>('GET', path)).body).toMatchObject({
    ...{ price: 2_000, charges: hybrid.charges },
  })
  const usage = [{ meter: 'tokens', units: 3_001 }, ...beside]
  const previewed = await call('POST', `${path}/price-preview`, { usage, changes })
  expect((await call('PUT', path, changes)).status).toBe(200)
  expect((await call('POST', `${path}/price-curve`, curve)).body).toEqual(unsaved.body)
  expect((await call('POST', `${path}/price-preview`, { usage })).body).toEqual(previewed.body)
  const totals: number[] = []
  for (const each of units) {
    const { body } = await call<PricePreviewBody>('POST', `${path}/price-preview`, {
      usage: [{ meter: 'tokens', units: each }, ...beside],
    })
    totals.push(body.total)
  }
  // 1,000 units are included, and the images cost 24: the minimum of 150 decides at first.
  expect(totals).toEqual([150, 150, 150, 431, 431, 431, 4136])
  expect(unsaved.body).toEqual({
    ...{ currency: 'USD', price: 2_500 },
    points: units.map((each, index) => ({
      ...{ units: each, usage: totals[index], total: totals[index]! + 2_500 },
    })),
  })
})

test('refuses changes in a preview as the update refuses them', async () => {
  const { reference } = (await call<PlanBody>('POST', plans, hybrid)).body
  const path = `${plans}/${reference}`
  const changes = { charges: [{ ...tokens, meter: 'nothing' }], trialDays: 3 }
  const update = await call<{ errors: unknown }>('PUT', path, changes)
  const curve = await call<{ errors: unknown }>('POST', `${path}/price-curve`, {
    ...{ meter: 'tokens', units: [1], changes },
  })
  expect([update.status, curve.status]).toEqual([400, 400])
  expect(curve.body.errors).toEqual(update.body.errors)
  const units = Array.from({ length: 101 }, (_, index) => index)
  expect((await call('POST', `${path}/price-curve`, { meter: 'tokens', units })).status).toBe(400)
})
