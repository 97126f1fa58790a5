import { afterAll, beforeAll, expect, test } from 'vitest'
import type { CustomerBody } from '@tollgate/schemas/http/customers'
import type { ProductBody } from '@tollgate/schemas/http/products'
import { startTestStack, type Tenant, type TestStack } from './test-stack.ts'

/* An Idempotency-Key header makes a request for a checkout repeatable. */

type Opened = { sessionId: string; checkoutUrl: string }

const path = '/v1/sdk/checkout-sessions'

let stack: TestStack
let tenant: Tenant
let customerRef: string
let productRef: string
let planRef: string

beforeAll(async () => {
  stack = await startTestStack()
  tenant = await stack.createTenant()
  const fields = { email: 'a@example.com', externalRef: 'user_a' }
  customerRef = (await call<CustomerBody>('/v1/sdk/customers', fields)).body.reference
  productRef = (await call<ProductBody>('/v1/sdk/products', { name: 'API' })).body.reference
  const plan = { name: 'Basic', type: 'recurring', price: 1900, billingCycle: 'monthly' }
  const plans = `/v1/sdk/products/${productRef}/plans`
  planRef = (await call<{ reference: string }>(plans, plan)).body.reference
})
afterAll(() => stack.stop())

function call<Body>(url: string, body: object) {
  return stack.call<Body>(tenant.sandboxKey, 'POST', url, body)
}

function open(idempotencyKey: string, body: object, key = tenant.sandboxKey) {
  return stack.callRaw<Opened>(key, 'POST', path, {
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json', 'idempotency-key': idempotencyKey },
  })
}

test('returns the same checkout for the same key and body, also after its plan is deleted', async () => {
  const body = { customerRef, productRef, planRef, returnUrl: 'https://shop.example/' }
  const first = await open('order-1', body)
  expect(first.status).toBe(201)
  // The same customer under another reference, and a body with the same meaning in other words.
  const again = await open('order-1', { ...body, customerRef: 'user_a', purpose: 'product' })
  expect({ status: again.status, body: again.body }).toEqual({ status: 201, body: first.body })
  const other = await open('order-2', body)
  expect(other.body.sessionId).not.toBe(first.body.sessionId)
  await stack.call(tenant.sandboxKey, 'DELETE', `/v1/sdk/products/${productRef}/plans/${planRef}`)
  expect((await open('order-3', body)).status).toBeGreaterThanOrEqual(400)
  expect((await open('order-1', body)).body).toEqual(first.body)
})

test('refuses another body with the same key', async () => {
  const body = { customerRef, productRef, returnUrl: 'https://shop.example/' }
  await open('order-4', body)
  const other = (await call<CustomerBody>('/v1/sdk/customers', { email: 'b@example.com' })).body
  for (const changed of [
    { ...body, returnUrl: 'https://shop.example/other' },
    { customerRef, productRef },
    { customerRef, purpose: 'credit_topup' },
    { ...body, customerRef: other.reference },
  ]) {
    const { status, body: answer } = await open('order-4', changed)
    expect(status).toBe(409)
    expect(answer.message).toBe('This idempotency key was used with another request')
  }
})

test('opens one checkout for concurrent requests', async () => {
  const body = { customerRef, productRef }
  const answers = await Promise.all(Array.from({ length: 5 }, () => open('order-5', body)))
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]))
  expect(new Set(answers.map(({ body: { sessionId } }) => sessionId)).size).toBe(1)
  const customers = await Promise.all(
    ['c', 'd', 'e'].map((name) =>
      call<CustomerBody>('/v1/sdk/customers', { email: `${name}@example.com` }),
    ),
  )
  const mixed = await Promise.all(
    customers.map(({ body: { reference } }) =>
      open('order-6', { customerRef: reference, productRef }),
    ),
  )
  expect(mixed.map(({ status }) => status).sort()).toEqual([201, 409, 409])
})

test('does not count a repeated request as another open checkout', async () => {
  const { body: customer } = await call<CustomerBody>('/v1/sdk/customers', {
    email: 'many@example.com',
  })
  const body = { customerRef: customer.reference, productRef }
  for (let index = 0; index < 12; index += 1) expect((await open('one', body)).status).toBe(201)
  for (let index = 0; index < 9; index += 1) await open(`many-${index}`, body)
  expect((await open('one too many', body)).status).toBe(429)
  expect((await open('one', body)).status).toBe(201)
})

test('limits keys to a provider and an environment', async () => {
  const stranger = await stack.createTenant()
  for (const key of [stranger.sandboxKey, tenant.liveKey]) {
    const fields = { email: 'x@example.com' }
    const { body } = await stack.call<CustomerBody>(key, 'POST', '/v1/sdk/customers', fields)
    const topUp = { customerRef: body.reference, purpose: 'credit_topup' }
    expect((await open('order-1', topUp, key)).status).toBe(201)
  }
})

test('refuses a key that is too long in every operation', async () => {
  const long = 'k'.repeat(257)
  const answer = await open(long, { customerRef, productRef })
  expect([answer.status, answer.body.message]).toEqual([
    400,
    'Idempotency-Key must be 1 to 256 printable ASCII characters',
  ])
  for (const [url, body] of [
    [`/v1/sdk/customers/${customerRef}/credits`, { credits: 5 }],
    [`/v1/ui/customers/${customerRef}/credits/adjustments`, { amount: 5, reason: 'x' }],
    ['/v1/sdk/limits', { customerRef, productRef }],
    ['/v1/sdk/payment-intents', { customerRef, purpose: 'credit_topup', amount: 500 }],
  ] as const) {
    const { status } = await stack.callRaw(tenant.sandboxKey, 'POST', url, {
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json', 'idempotency-key': long },
    })
    expect([url, status]).toEqual([url, 400])
  }
})
