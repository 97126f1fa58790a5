import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { CustomerBody } from '@tollgate/schemas/http/customers'
import type { LimitsResponse } from '@tollgate/schemas/http/limits'
import type { ProductBody } from '@tollgate/schemas/http/products'
import type { UserInfoResponse } from '@tollgate/schemas/http/user-info'
import { startTestStack, type Tenant, type TestStack } from './test-stack.ts'

/* Sessions of the hosted pages: who gets one, where it leads, and how long. */

type Opened = { sessionId: string; customerUrl: string; checkoutUrl: string }
type Session = {
  sessionId: string
  status: string
  customerUrl: string
  expiresAt: string
  customer: CustomerBody
}

let stack: TestStack
let tenant: Tenant
let customerRef: string
let productRef: string

beforeAll(async () => {
  stack = await startTestStack({
    settings: { TOLLGATE_HOSTED_URL: 'https://pay.example/' },
  })
  tenant = await stack.createTenant()
  const fields = { email: 'a@example.com', externalRef: 'user_a' }
  customerRef = (await call<CustomerBody>('POST', '/v1/sdk/customers', fields)).body.reference
  productRef = (await call<ProductBody>('POST', '/v1/sdk/products', { name: 'API' })).body.reference
})
afterAll(() => stack.stop())
beforeEach(() => stack.clock.set('2026-03-01T00:00:00Z'))

function call<Body>(method: string, path: string, body?: unknown, key = tenant.sandboxKey) {
  return stack.call<Body>(key, method, path, body)
}

const customerSessions = '/v1/sdk/customers/customer-sessions'

test('a customer session is active for a quarter of an hour', async () => {
  const { status, body } = await call<Opened>('POST', customerSessions, { customerRef: 'user_a' })
  expect(status).toBe(201)
  const { sessionId } = body
  expect(sessionId).toMatch(/^[0-9a-f]{32}$/)
  const customerUrl = `https://pay.example/customer/manage?id=${sessionId}`
  expect(body).toEqual({ sessionId, customerUrl })
  stack.clock.set('2026-03-01T00:14:59.999Z')
  const open = await call<Session>('GET', `${customerSessions}/${sessionId}`)
  expect(open.body).toMatchObject({
    sessionId,
    status: 'active',
    customerUrl,
    expiresAt: '2026-03-01T00:15:00.000Z',
    customer: { reference: customerRef, email: 'a@example.com' },
  })
  stack.clock.set('2026-03-01T00:15:00.000Z')
  const late = await call<Session>('GET', `${customerSessions}/${sessionId}`)
  expect({ status: late.status, is: late.body.status }).toEqual({ status: 200, is: 'expired' })
})

test('a session is nobody else’s', async () => {
  const { body } = await call<Opened>('POST', customerSessions, { customerRef })
  const stranger = await stack.createTenant()
  for (const key of [stranger.sandboxKey, tenant.liveKey]) {
    const answer = await call<object>(
      'GET',
      `${customerSessions}/${body.sessionId}`,
      undefined,
      key,
    )
    expect(answer.status).toBe(404)
    expect(answer.body.message).toBe(`Customer session not found: ${body.sessionId}`)
  }
})

test.each([
  ['an unknown customer', { customerRef: 'nobody' }, 404],
  ['an unknown product', { customerRef: 'user_a', productRef: 'prd_NONE' }, 404],
  ['no customer', {}, 400],
])('no customer session for %s', async (_, body, status) => {
  expect((await call('POST', customerSessions, body)).status).toBe(status)
})

test('a checkout wants a product, unless credits are bought', async () => {
  const path = '/v1/sdk/checkout-sessions'
  const product = await call<Opened>('POST', path, { customerRef, productRef })
  expect(product.status).toBe(201)
  const { sessionId } = product.body
  const checkoutUrl = `https://pay.example/customer/checkout?id=${sessionId}`
  expect(product.body).toEqual({ sessionId, checkoutUrl })
  const credits = { customerRef, purpose: 'credit_topup' }
  expect((await call('POST', path, credits)).status).toBe(201)
  expect((await call('POST', path, { customerRef })).status).toBe(400)
  const unknown = { customerRef, productRef, planRef: 'pln_NONE' }
  expect((await call('POST', path, unknown)).status).toBe(404)
})

test('user info leads to the portal', async () => {
  const request = { customerRef, productRef }
  const { body } = await call<UserInfoResponse>('POST', '/v1/sdk/user-info', request)
  const sessionId = body.verifyUrl?.split('id=')[1] ?? ''
  const session = await call<Session>('GET', `${customerSessions}/${sessionId}`)
  expect(session.body.customer.reference).toBe(customerRef)
})

test('a refused limit check leads to a checkout for those who ask', async () => {
  const request = { customerRef, productRef }
  const { body: silent } = await call<LimitsResponse>('POST', '/v1/sdk/limits', request)
  expect(silent.withinLimits).toBe(false)
  expect(silent).not.toHaveProperty('checkoutUrl')
  const asking = { ...request, includeCheckoutSession: true }
  const { body } = await call<LimitsResponse>('POST', '/v1/sdk/limits', asking)
  const checkoutUrl = `https://pay.example/customer/checkout?id=${body.checkoutSessionId}`
  expect(body).toEqual({ ...silent, checkoutUrl, checkoutSessionId: body.checkoutSessionId })
})

test('and to the portal where a plan waits to be activated', async () => {
  const plan = { name: 'Usage', type: 'usage-based', creditsPerUnit: 5, default: true }
  await call('POST', `/v1/sdk/products/${productRef}/plans`, plan)
  const request = { customerRef, productRef, includeCheckoutSession: true }
  const { body } = await call<LimitsResponse>('POST', '/v1/sdk/limits', request)
  expect(body).toMatchObject({ withinLimits: false, activationRequired: true })
  expect(body.confirmationUrl).toMatch('https://pay.example/customer/manage?id=')
  expect(body).not.toHaveProperty('checkoutUrl')
})
