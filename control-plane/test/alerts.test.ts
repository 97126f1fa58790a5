import { afterAll, beforeAll, expect, test } from 'vitest'
import type { AlertBody, BudgetBody } from '@tollgate/schemas/http/alerts'
import type { CustomerBody } from '@tollgate/schemas/http/customers'
import type { PlanBody } from '@tollgate/schemas/http/plans'
import type { ProductBody } from '@tollgate/schemas/http/products'
import { startTestStack, type Tenant, type TestStack } from './test-stack.ts'

/* Alerts over HTTP: who may set them, for whom, and what is refused. */

const path = '/v1/ui/alerts'
let stack: TestStack
let tenant: Tenant
let planRef: string
let customerRef: string

beforeAll(async () => {
  stack = await startTestStack()
  tenant = await stack.createTenant()
  const product = await call<ProductBody>('POST', '/v1/sdk/products', { name: 'Search' })
  const plan = { name: 'Free', type: 'recurring', price: 0, billingCycle: 'monthly', limit: 10 }
  const plans = `/v1/sdk/products/${product.body.reference}/plans`
  planRef = (await call<PlanBody>('POST', plans, plan)).body.reference
  const ada = { email: 'ada@example.com', externalRef: 'user_1' }
  customerRef = (await call<CustomerBody>('POST', '/v1/sdk/customers', ada)).body.reference
})
afterAll(() => stack.stop())

type Refusal = { readonly code: string; readonly errors?: readonly { path: unknown[] }[] }

async function call<Body>(method: string, to: string, body?: unknown, key = tenant.sandboxKey) {
  return stack.call<Body>(key, method, to, body)
}

const limit = (fields: object = {}) => ({
  watches: 'limit',
  thresholds: [{ percent: 80 }],
  ...fields,
})

test('creates, changes and deletes an alert of each place, and one for each place only', async () => {
  const places = [{}, { limit: 'tokens' }, { planRef }, { customerRef: 'user_1' }]
  const created: AlertBody[] = []
  for (const place of places) {
    const { status, body } = await call<AlertBody>('POST', path, limit(place))
    expect(status).toBe(201)
    const named = 'customerRef' in place ? { customerRef } : place
    expect(body).toMatchObject({ ...limit(named) })
    expect((await call<Refusal>('POST', path, limit(place))).body.code).toBe('alert_exists')
    created.push(body)
  }
  const { body: all } = await call<{ alerts: AlertBody[] }>('GET', path)
  expect(all.alerts).toEqual(created)
  const ofCustomer = await call<{ alerts: AlertBody[] }>('GET', `${path}?customerRef=user_1`)
  expect(ofCustomer.body.alerts).toEqual([created[3]])

  const one = `${path}/${created[0]!.reference}`
  const thresholds = [{ units: 5.5 }]
  const changed = await call<AlertBody>('PATCH', one, { thresholds })
  expect([changed.status, changed.body]).toMatchObject([200, { thresholds }])
  expect((await call<AlertBody>('GET', one)).body).toEqual(changed.body)
  expect((await call('DELETE', one)).status).toBe(200)
  for (const [method, body] of [['GET'], ['PATCH', { thresholds }], ['DELETE']] as const) {
    const { status, body: refusal } = await call<Refusal>(method, one, body)
    expect([status, refusal.code]).toEqual([404, 'alert_not_found'])
  }
})

test.each([
  [{ watches: 'wallet', thresholds: [{ percent: 5 }] }, ['thresholds', 0]],
  [{ watches: 'limit', thresholds: [{ credits: 5 }] }, ['thresholds', 0]],
  [{ watches: 'limit', thresholds: [{}] }, ['thresholds', 0]],
  [{ watches: 'limit', thresholds: [{ percent: 5, units: 5 }] }, ['thresholds', 0]],
  [{ watches: 'limit', thresholds: [{ percent: 5 }, { percent: 5 }] }, ['thresholds', 1]],
  [{ watches: 'limit', thresholds: [{ percent: 0 }] }, ['thresholds', 0, 'percent']],
  [{ watches: 'limit', thresholds: [{ percent: 2.5 }] }, ['thresholds', 0, 'percent']],
  [{ watches: 'spend', thresholds: [{ amountMinor: 5 }] }, ['thresholds', 0, 'currency']],
  [{ watches: 'spend', limit: 'tokens', thresholds: [] }, ['limit']],
  [{ watches: 'wallet', planRef: 'pln_1', thresholds: [] }, ['planRef']],
])('refuses %j', async (alert, at) => {
  const { status, body } = await call<Refusal>('POST', path, alert)
  expect(status).toBe(400)
  expect(body.errors!.map((error) => error.path)).toContainEqual(at)
})

test('refuses an alert for both a plan and a customer', async () => {
  const { status, body } = await call<Refusal>('POST', path, limit({ planRef, customerRef }))
  expect([status, body.errors]).toMatchObject([400, [{ path: ['customerRef'] }]])
})

test('refuses plans and customers that the provider does not have', async () => {
  const other = await stack.createTenant()
  const asOther = (fields: object) =>
    call<Refusal>('POST', path, limit(fields), other.sandboxKey).then(({ body }) => body.code)
  expect(await asOther({ planRef })).toBe('plan_not_found')
  expect(await asOther({ customerRef })).toBe('customer_not_found')
  const { body: mine } = await call<AlertBody>('POST', path, limit({ limit: 'mine' }))
  const one = `${path}/${mine.reference}`
  for (const key of [other.sandboxKey, tenant.liveKey]) {
    expect((await call<Refusal>('GET', one, undefined, key)).status).toBe(404)
    expect((await call<Refusal>('DELETE', one, undefined, key)).status).toBe(404)
    const list = await call<{ alerts: unknown[] }>('GET', path, undefined, key)
    expect(list.body.alerts).toEqual([])
    const budgets = `/v1/ui/customers/${customerRef}/budgets`
    expect((await call<Refusal>('GET', budgets, undefined, key)).body.code).toBe(
      'customer_not_found',
    )
  }
  expect((await call('GET', one)).status).toBe(200)
})

test('lets a key with the scope read list alerts and budgets, and change nothing', async () => {
  const issued = await call<{ secretKey: string }>('POST', '/v1/ui/api-keys', { scopes: ['read'] })
  const reader = issued.body.secretKey
  const asReader = (method: string, to: string, body?: unknown) => call(method, to, body, reader)
  expect((await asReader('GET', path)).status).toBe(200)
  const budgets = await call<{ budgets: BudgetBody[] }>(
    'GET',
    `/v1/ui/customers/${customerRef}/budgets`,
    undefined,
    reader,
  )
  expect([budgets.status, budgets.body]).toEqual([200, { budgets: [] }])
  expect((await asReader('POST', path, limit({ limit: 'x' }))).status).toBe(403)
  expect((await asReader('PATCH', `${path}/alr_1`, { thresholds: [] })).status).toBe(403)
  expect((await asReader('DELETE', `${path}/alr_1`)).status).toBe(403)
})
