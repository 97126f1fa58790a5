import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { ActivateResponse } from '@tollgate/schemas/http/activate'
import type { CustomerBody } from '@tollgate/schemas/http/customers'
import type { LimitsResponse } from '@tollgate/schemas/http/limits'
import type { ProductBody } from '@tollgate/schemas/http/products'
import type { UserInfoResponse } from '@tollgate/schemas/http/user-info'
import { startTestStack, type Tenant, type TestStack } from './test-stack.ts'

/* A customer has the maximum number of open hosted pages. Requests that only add a link to their response still succeed. */

type Opened = { sessionId: string }

let stack: TestStack
let tenant: Tenant
let ingestKey: string
let of: { customerRef: string; productRef: string }
let planRef: string
let otherPlanRef: string

beforeAll(async () => {
  stack = await startTestStack()
  tenant = await stack.createTenant()
  const issued = await call<{ secretKey: string }>('/v1/ui/api-keys', { scopes: ['ingest'] })
  ingestKey = issued.body.secretKey
})
afterAll(() => stack.stop())

beforeEach(async () => {
  stack.clock.set('2026-03-01T00:00:00Z')
  const email = `${crypto.randomUUID()}@example.com`
  const customer = await call<CustomerBody>('/v1/sdk/customers', { email })
  const product = await call<ProductBody>('/v1/sdk/products', { name: 'API' })
  of = { customerRef: customer.body.reference, productRef: product.body.reference }
  planRef = await createPlan('Basic')
  otherPlanRef = await createPlan('Professional')
})

function call<Body>(path: string, body: object, key = tenant.sandboxKey) {
  return stack.call<Body>(key, 'POST', path, body)
}

async function createPlan(name: string): Promise<string> {
  const plan = { name, type: 'recurring', price: 1900, billingCycle: 'monthly' }
  const path = `/v1/sdk/products/${of.productRef}/plans`
  return (await call<{ reference: string }>(path, plan)).body.reference
}

async function open(fields: object = {}): Promise<string> {
  const { status, body } = await call<Opened>('/v1/sdk/checkout-sessions', { ...of, ...fields })
  expect(status).toBe(201)
  return body.sessionId
}

async function check(key?: string): Promise<LimitsResponse> {
  const limitsBody = { ...of, includeCheckoutSession: true }
  const { status, body } = await call<LimitsResponse>('/v1/sdk/limits', limitsBody, key)
  expect({ status, withinLimits: body.withinLimits }).toEqual({ status: 200, withinLimits: false })
  return body
}

async function activate(plan: string): Promise<ActivateResponse> {
  const activateBody = { ...of, planRef: plan }
  const { status, body } = await call<ActivateResponse>('/v1/sdk/activate', activateBody)
  expect({ status, is: body.status }).toEqual({ status: 200, is: 'payment_required' })
  return body
}

/** Opens 10 checkouts, each 1 minute after the previous one. */
async function openTen(first: object, others: object): Promise<{ first: string; newest: string }> {
  const opened = [await open(first)]
  for (let minute = 1; minute < 10; minute += 1) {
    stack.clock.set(`2026-03-01T00:0${minute}:00Z`)
    opened.push(await open(others))
  }
  expect((await call('/v1/sdk/checkout-sessions', of)).status).toBe(429)
  return { first: opened[0]!, newest: opened[9]! }
}

test('returns the newest of 10 open checkouts of the product from a limit check', async () => {
  const { newest } = await openTen({}, { returnUrl: 'https://shop.example/done' })
  expect((await check()).checkoutSessionId).toBe(newest)
})

test('returns no checkout that may end a purchase to a key without the scope manage', async () => {
  await openTen({}, {})
  const answer = await check(ingestKey)
  expect(answer).not.toHaveProperty('checkoutUrl')
  expect(answer).not.toHaveProperty('checkoutSessionId')
})

test('returns a bound checkout to a key without the scope manage, however it was opened', async () => {
  const bound = (await check(ingestKey)).checkoutSessionId
  for (let minute = 1; minute < 10; minute += 1) await open()
  const second = await call<{ secretKey: string }>('/v1/ui/api-keys', { scopes: ['ingest'] })
  expect((await check(second.body.secretKey)).checkoutSessionId).toBe(bound)
  stack.clock.set('2026-03-01T00:14:00Z')
  expect((await check(ingestKey)).checkoutSessionId).toBe(bound)
  expect((await check()).checkoutSessionId).not.toBe(bound)
})

test('returns no checkout of another product or purpose from a limit check', async () => {
  const other = await call<ProductBody>('/v1/sdk/products', { name: 'Other' })
  const credits = { purpose: 'credit_topup' }
  await openTen(credits, { productRef: other.body.reference })
  expect(await check()).not.toHaveProperty('checkoutUrl')
})

test('returns a checkout of the plan, or one with a choice, from an activation', async () => {
  const { first } = await openTen({ planRef }, { planRef: otherPlanRef })
  expect((await activate(planRef)).checkoutSessionId).toBe(first)
  stack.clock.set('2026-03-01T00:15:30Z')
  const chosen = await open()
  const answer = await activate(planRef)
  expect(answer.checkoutSessionId).toBe(chosen)
  expect(answer.checkoutUrl).toMatch(chosen)
})

test('returns no link from an activation if all open checkouts sell another plan', async () => {
  await openTen({ planRef: otherPlanRef }, { planRef: otherPlanRef })
  const answer = await activate(planRef)
  expect(answer).not.toHaveProperty('checkoutUrl')
  expect(answer.message).toMatch(/open checkouts/)
})

test('returns an unused portal link from limit checks and user info', async () => {
  const customerSessions = '/v1/sdk/customers/customer-sessions'
  const links: string[] = []
  for (let index = 0; index < 50; index += 1) {
    stack.clock.set(new Date(Date.UTC(2026, 2, 1, 0, 0, index)).toISOString())
    const { customerRef } = of
    links.push((await call<Opened>(customerSessions, { customerRef })).body.sessionId)
  }
  const info = await call<UserInfoResponse>('/v1/sdk/user-info', of)
  expect(info).toMatchObject({ status: 200 })
  expect(info.body.verifyUrl).toMatch(links[49]!)
  const plan = { name: 'Usage', type: 'usage-based', creditsPerUnit: 5, default: true }
  await call(`/v1/sdk/products/${of.productRef}/plans`, plan)
  const answer = await check()
  expect(answer.activationRequired).toBe(true)
  expect(answer.confirmationUrl).toMatch(links[49]!)
})
