import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { CustomerBody } from '@tollgate/schemas/http/customers'
import type { MerchantBody } from '@tollgate/schemas/http/merchants'
import type { PlanBody } from '@tollgate/schemas/http/plans'
import type { ProductBody } from '@tollgate/schemas/http/products'
import { formTokenOf } from '../src/pages/cookies.ts'
import { startTestStack, type Tenant, type TestStack } from './test-stack.ts'

/* The hosts to which a provider's links may lead. They are checked when a link is stored, and again when a page shows it. */

let stack: TestStack
let tenant: Tenant
let customerRef: string
let productRef: string
let planRef: string

beforeAll(async () => {
  stack = await startTestStack({ settings: { TOLLGATE_HOSTED_URL: 'https://pay.example' } })
})
afterAll(() => stack.stop())

beforeEach(async () => {
  tenant = await stack.createTenant()
  const email = 'a@example.com'
  customerRef = (await call<CustomerBody>('POST', '/v1/sdk/customers', { email })).body.reference
  const product = await call<ProductBody>('POST', '/v1/sdk/products', { name: 'API' })
  productRef = product.body.reference
  const plan = { name: 'Free', type: 'recurring', price: 0 }
  const plans = `/v1/sdk/products/${productRef}/plans`
  planRef = (await call<PlanBody>('POST', plans, plan)).body.reference
})

function call<Body>(method: string, path: string, body: object) {
  return stack.call<Body>(tenant.sandboxKey, method, path, body)
}

const change = (fields: object) => call<MerchantBody>('PATCH', '/v1/ui/merchant', fields)

const openCheckout = (returnUrl: string) =>
  call<{ sessionId: string }>('POST', '/v1/sdk/checkout-sessions', {
    customerRef,
    productRef,
    returnUrl,
  })

/** Takes the free plan and returns the last page. */
async function completeCheckout(sessionId: string): Promise<string> {
  const link = `/customer/checkout?id=${sessionId}`
  const opened = await stack.fetch(link, { redirect: 'manual' })
  const [cookie = ''] = opened.headers.get('set-cookie')?.split(';') ?? []
  const path = opened.headers.get('location') ?? ''
  const body = new URLSearchParams({ formToken: formTokenOf(sessionId), plan: planRef })
  const sent = { method: 'POST', body, headers: { cookie }, redirect: 'manual' } as const
  const done = await stack.fetch(`${path}/activate`, sent)
  expect(done.status).toBe(303)
  const page = await stack.fetch(done.headers.get('location') ?? '', { headers: { cookie } })
  expect(page.status).toBe(200)
  return page.text()
}

test('allows links to any host without a list', async () => {
  const { body } = await change({ termsUrl: 'https://elsewhere.example/terms' })
  expect(body).not.toHaveProperty('allowedLinkHosts')
  const { status, body: opened } = await openCheckout('https://shop.example/done')
  expect(status).toBe(201)
  expect(await completeCheckout(opened.sessionId)).toContain('href="https://shop.example/done"')
})

test('checks every link against the list when it is stored', async () => {
  const { body } = await change({ allowedLinkHosts: ['Shop.example', '*.cdn.example'] })
  expect(body.allowedLinkHosts).toEqual(['shop.example', '*.cdn.example'])
  const elsewhere = 'https://shop.example.evil.example/'
  const requests = (address: string) =>
    [
      ['POST', '/v1/sdk/checkout-sessions', { customerRef, productRef, returnUrl: address }],
      ['PATCH', '/v1/ui/merchant', { supportUrl: address }],
      ['PATCH', '/v1/ui/merchant', { termsUrl: address }],
      ['PATCH', '/v1/ui/merchant', { privacyUrl: address }],
      ['POST', '/v1/sdk/products', { name: 'Shown', imageUrl: address }],
      ['PUT', `/v1/sdk/products/${productRef}`, { imageUrl: address }],
      [
        'POST',
        '/v1/sdk/products/mcp/bootstrap',
        { originUrl: 'https://mcp.example/', imageUrl: address, tools: [] },
      ],
    ] as const
  for (const [method, path, fields] of requests(elsewhere)) {
    const { status, body: refused } = await call<{ errors: object[] }>(method, path, fields)
    expect([method, path, status]).toEqual([method, path, 400])
    const field = Object.keys(fields).find((name) => name.endsWith('Url') && name !== 'originUrl')
    expect(refused.errors).toEqual([
      {
        code: 'custom',
        path: [field],
        message:
          'The host is not in allowedLinkHosts. Use a host of that list, or add it with PATCH /v1/ui/merchant.',
      },
    ])
  }
  for (const address of ['https://shop.example:8443/x', 'https://img.cdn.example/x']) {
    for (const [method, path, fields] of requests(address)) {
      expect([method, path, (await call(method, path, fields)).status]).not.toContain(400)
    }
  }
  expect((await openCheckout('https://pay.example/customer')).status).toBe(201)
  expect((await openCheckout('')).status).toBe(201)
})

test('checks links of a request against the list in the same request', async () => {
  const both = { allowedLinkHosts: ['new.example'], termsUrl: 'https://new.example/terms' }
  expect((await change(both)).status).toBe(200)
  const wrong = { allowedLinkHosts: ['other.example'], termsUrl: 'https://new.example/terms' }
  expect((await change(wrong)).status).toBe(400)
  const none = { allowedLinkHosts: null, termsUrl: 'https://any.example/terms' }
  expect((await change(none)).body).not.toHaveProperty('allowedLinkHosts')
})

test.each([[[]], [['https://shop.example']], [['*']], [['shop.example/path']], [['']]])(
  'refuses the list %j',
  async (allowedLinkHosts) => {
    expect((await change({ allowedLinkHosts })).status).toBe(400)
  },
)

test('hides links on pages that the list no longer allows, and says so', async () => {
  await change({
    supportUrl: 'https://old.example/help',
    termsUrl: 'https://shop.example/terms',
  })
  const { body } = await openCheckout('https://old.example/done')
  await change({ allowedLinkHosts: ['shop.example'] })
  const page = await completeCheckout(body.sessionId)
  expect(page).toContain('old.example, which Acme no longer allows')
  expect(page).not.toContain('href="https://old.example')
  expect(page).toContain('href="https://shop.example/terms"')
  await change({ allowedLinkHosts: ['*.example', 'old.example'] })
  const again = await openCheckout('https://old.example/done')
  expect(await completeCheckout(again.body.sessionId)).toContain('href="https://old.example/done"')
})

test('applies a list only to its provider and environment', async () => {
  await change({ allowedLinkHosts: ['shop.example'] })
  const stranger = await stack.createTenant()
  for (const key of [tenant.liveKey, stranger.sandboxKey]) {
    const fields = { termsUrl: 'https://elsewhere.example/' }
    expect((await stack.call(key, 'PATCH', '/v1/ui/merchant', fields)).status).toBe(200)
  }
})
