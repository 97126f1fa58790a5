import { afterAll, beforeAll, expect, test } from 'vitest'
import type { AuditEntryBody } from '@tollgate/schemas/http/audit-log'
import type { OverridesBody } from '@tollgate/schemas/http/overrides'
import type { PlanBody } from '@tollgate/schemas/http/plans'
import type { ProductBody } from '@tollgate/schemas/http/products'
import type { PurchaseBody } from '@tollgate/schemas/http/purchases'
import { startTestStack, type Tenant, type TestStack } from './test-stack.ts'

/* Overrides of a customer over HTTP: who may change them, what is refused, and where they are shown. */

let stack: TestStack
let tenant: Tenant
let productRef: string
let planRef: string

const studio = {
  name: 'Studio',
  type: 'usage-based',
  billingModel: 'post-paid',
  charges: [
    { key: 'tokens', meter: 'tokens', price: '0.0003', included: 1_000 },
    { key: 'images', meter: 'images', model: 'matrix', price: '4', rows: rowsAt('8') },
  ],
  usageLimits: [{ key: 'rate', meter: 'tokens', cap: 60, per: 'rolling', rollingSeconds: 60 }],
}

function rowsAt(price: string) {
  return [{ when: { model: 'large' }, price }]
}

beforeAll(async () => {
  stack = await startTestStack()
  tenant = await stack.createTenant()
  await call('POST', '/v1/ui/meters', { name: 'tokens', aggregation: 'sum' })
  await call('POST', '/v1/ui/meters', {
    ...{ name: 'images', event: { type: 'image' }, value: '/count', dimensions: ['model'] },
  })
  const product = await call<ProductBody>('POST', '/v1/sdk/products', { name: 'Studio' })
  productRef = product.body.reference
  const plan = await call<PlanBody>('POST', `/v1/sdk/products/${productRef}/plans`, studio)
  planRef = plan.body.reference
})
afterAll(() => stack.stop())

async function call<Body>(method: string, path: string, body?: unknown, key = tenant.sandboxKey) {
  return stack.call<Body>(key, method, path, body)
}

let customers = 0

async function createCustomer(): Promise<string> {
  const email = `customer-${(customers += 1)}@example.com`
  return (await call<{ reference: string }>('POST', '/v1/sdk/customers', { email })).body.reference
}

const pathOf = (customerRef: string, product = productRef) =>
  `/v1/ui/customers/${customerRef}/products/${product}/overrides`

const put = (customerRef: string, body: object, key?: string) =>
  call<OverridesBody>('PUT', pathOf(customerRef), body, key)

async function faultsOf(body: object): Promise<unknown> {
  const { status, body: refused } = await call<{ errors: { path: unknown[] }[] }>(
    'PUT',
    pathOf(await createCustomer()),
    body,
  )
  return [status, refused.errors.map(({ path }) => path.join('.'))]
}

test('stores overrides, shows them with the purchase, and removes them', async () => {
  const customerRef = await createCustomer()
  expect((await call('GET', pathOf(customerRef))).body).toEqual({
    ...{ customerRef, productRef, charges: [], usageLimits: [], prices: [] },
  })
  const overrides = {
    charges: [
      { charge: 'tokens', price: '0.0001', cap: 5_000 },
      { charge: 'images', rows: rowsAt('6') },
    ],
    usageLimits: [
      { key: 'rate', meter: 'tokens', cap: 600, per: 'rolling', rollingSeconds: 60 },
      { meter: 'images', cap: 3, per: 'day' },
    ],
  }
  const saved = await put(customerRef, overrides)
  const since = expect.any(String) as string
  expect([saved.status, saved.body]).toEqual([
    200,
    { customerRef, productRef, ...overrides, prices: [], since },
  ])
  expect((await call('GET', pathOf(customerRef))).body).toEqual(saved.body)
  await call('POST', '/v1/sdk/activate', { customerRef, productRef, planRef })
  const shown = async () => {
    const path = `/v1/sdk/purchases/customer/${customerRef}`
    return (await call<{ purchases: PurchaseBody[] }>('GET', path)).body.purchases[0]!
  }
  const bought = await shown()
  expect(bought.overrides).toEqual({ ...overrides, prices: [], since })
  // The purchase keeps the plan as it was sold, with its limits.
  expect(bought.planSnapshot).toMatchObject({ usageLimits: studio.usageLimits })
  // The same overrides again are no change.
  expect((await put(customerRef, overrides)).body).toEqual(saved.body)
  expect(await call('DELETE', pathOf(customerRef))).toMatchObject({ body: { success: true } })
  expect(await shown()).not.toHaveProperty('overrides')
})

test('refuses overrides without an effect, by field', async () => {
  const charge = 'tokens'
  expect(await faultsOf({ charges: [{ charge: 'nothing', cap: 1 }] })).toEqual([
    400,
    ['charges.0.charge'],
  ])
  expect(await faultsOf({ charges: [{ charge, cap: 1 }, { charge }] })).toEqual([
    400,
    ['charges.1.charge'],
  ])
  expect(await faultsOf({ charges: [{ charge, creditsPerUnit: '1' }] })).toEqual([
    400,
    ['charges.0.creditsPerUnit'],
  ])
  expect(await faultsOf({ charges: [{ charge, tiers: [{ upTo: null, price: '1' }] }] })).toEqual([
    400,
    ['charges.0.tiers'],
  ])
  const images = { charge: 'images', cap: 5, included: 1 }
  expect(await faultsOf({ charges: [images] })).toEqual([
    400,
    ['charges.0.included', 'charges.0.cap'],
  ])
  const rows = [{ when: { model: 'small' }, price: '1' }]
  expect(await faultsOf({ charges: [{ charge: 'images', rows }] })).toEqual([
    400,
    ['charges.0.rows'],
  ])
  const usageLimits = [{ meter: 'elsewhere', cap: 1, per: 'day' }]
  expect(await faultsOf({ usageLimits })).toEqual([400, ['usageLimits.0.meter']])
})

test.each([
  ['a key that no limit has', [{ key: 'other', cap: null }], ['0.key']],
  ['the key of a charge', [{ key: 'tokens', cap: null }], ['0.key']],
  ['no key', [{ cap: null }], ['0.key']],
  ['a meter', [{ key: 'rate', cap: null, meter: 'tokens' }], ['0.meter']],
  ['a removal twice', [rateRemoved(), rateRemoved()], ['1.key']],
  [
    'a replacement, too',
    [rateRemoved(), { key: 'rate', meter: 'tokens', cap: 1, per: 'day' }],
    ['0.key'],
  ],
  [
    'a fault in a limit behind it',
    [rateRemoved(), { meter: 'elsewhere', cap: 1, per: 'day' }],
    ['1.meter'],
  ],
  ['a limit without meter and window', [{ key: 'rate', cap: 5 }], ['0.meter', '0.per']],
  ['a limit without a cap', [{ key: 'rate', meter: 'tokens', per: 'day' }], ['0.cap']],
  ['a cap of 0', [{ key: 'rate', meter: 'tokens', per: 'day', cap: 0 }], ['0.cap']],
  [
    'a day with seconds',
    [{ meter: 'tokens', per: 'day', rollingSeconds: 60, cap: 1 }],
    ['0.rollingSeconds'],
  ],
])('refuses limits with %s', async (_, usageLimits, paths) => {
  expect(await faultsOf({ usageLimits })).toEqual([400, paths.map((path) => `usageLimits.${path}`)])
})

function rateRemoved() {
  return { key: 'rate', cap: null }
}

test('removes a limit, shows and audits the removal', async () => {
  const customerRef = await createCustomer()
  const saved = await put(customerRef, { usageLimits: [rateRemoved()] })
  expect(saved).toMatchObject({ status: 200, body: { usageLimits: [rateRemoved()] } })
  const shown = await call<OverridesBody>('GET', pathOf(customerRef))
  expect(shown.body.usageLimits).toEqual([rateRemoved()])
  await call('POST', '/v1/sdk/activate', { customerRef, productRef, planRef })
  const path = `/v1/sdk/purchases/customer/${customerRef}`
  const { body } = await call<{ purchases: PurchaseBody[] }>('GET', path)
  expect(body.purchases[0]!.overrides).toMatchObject({ usageLimits: [rateRemoved()] })
  await put(customerRef, { usageLimits: [{ meter: 'tokens', cap: 3, per: 'day' }] })
  await put(customerRef, { usageLimits: [rateRemoved()] })
  const log = `/v1/ui/audit-log?reference=${customerRef}/${productRef}`
  const { entries } = (await call<{ entries: AuditEntryBody[] }>('GET', log)).body
  expect(entries.map(({ action }) => action)).toEqual(['update', 'update', 'insert'])
  for (const { changedColumns } of entries.slice(0, 2)) {
    expect(changedColumns).toContain('usage_limits')
  }
})

test('refuses overrides of a product whose plans have no charges', async () => {
  const plain = await call<ProductBody>('POST', '/v1/sdk/products', { name: 'Plain' })
  const plan = { name: 'Free', type: 'recurring', price: 0, limit: 5, billingCycle: 'monthly' }
  await call('POST', `/v1/sdk/products/${plain.body.reference}/plans`, plan)
  const path = pathOf(await createCustomer(), plain.body.reference)
  const body = { usageLimits: [{ meter: 'requests', cap: 1, per: 'day' }] }
  expect((await call('PUT', path, body)).status).toBe(400)
})

test('belongs to one provider and one environment, and needs the right to manage', async () => {
  const customerRef = await createCustomer()
  const body = { charges: [{ charge: 'tokens', cap: 1 }] }
  const other = await stack.createTenant()
  expect((await put(customerRef, body, other.sandboxKey)).status).toBe(404)
  expect((await put(customerRef, body, tenant.liveKey)).status).toBe(404)
  const reader = await call<{ secretKey: string }>('POST', '/v1/ui/api-keys', {
    ...{ name: 'Reader', scopes: ['read'] },
  })
  expect((await put(customerRef, body, reader.body.secretKey)).status).toBe(403)
  const read = await call<OverridesBody>(
    'GET',
    pathOf(customerRef),
    undefined,
    reader.body.secretKey,
  )
  expect([read.status, read.body.charges]).toEqual([200, []])
  expect((await call('GET', pathOf(customerRef), undefined, tenant.liveKey)).status).toBe(404)
})
