import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { CustomerBody } from '@tollgate/schemas/http/customers'
import type { LimitsResponse } from '@tollgate/schemas/http/limits'
import type { ProductBody } from '@tollgate/schemas/http/products'
import type { UserInfoResponse } from '@tollgate/schemas/http/user-info'
import { startTestStack, type Tenant, type TestStack } from './test-stack.ts'

/* Sessions of the hosted pages: who gets one, where it leads, and how long it lasts. */

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
let customers = 0

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

test('keeps a customer session active for 15 minutes', async () => {
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

test('hides a session from other providers', async () => {
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
])('refuses a customer session for %s', async (_, body, status) => {
  expect((await call('POST', customerSessions, body)).status).toBe(status)
})

test('requires a product for a checkout unless it sells credits', async () => {
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

describe.each([customerSessions, '/v1/sdk/checkout-sessions'])('a session of %s', (path) => {
  // Each session belongs to a new customer, because the number of open sessions of a customer is limited.
  const open = async (locale?: string | number | null) => {
    const fields = { email: `${++customers}@example.com`, name: 'Reader' }
    const { body } = await call<CustomerBody>('POST', '/v1/sdk/customers', fields)
    const request = { customerRef: body.reference, productRef }
    return call<Opened>('POST', path, { ...request, ...(locale !== undefined && { locale }) })
  }

  test.each([
    [undefined, 'fr'],
    ['auto', 'fr'],
    ['de', 'de'],
    ['pt-BR', 'pt'],
    ['es-419', 'es'],
    // Other services accept these locales, and clients sent them when this field was still ignored.
    ['de_DE', 'de'],
    ['ja-jp', 'ja'],
    ['ES', 'es'],
    ['de-u-nu-arab', 'de'],
    ['it', 'fr'],
    ['German', 'fr'],
    ['', 'fr'],
    [null, 'fr'],
  ])('shows its page for the locale %j in %s', async (locale, language) => {
    const { body } = await open(locale)
    expect(await languageOfPage(body.customerUrl ?? body.checkoutUrl)).toBe(language)
  })

  test.each([7, 'de\0', 'x'.repeat(2_000)])(
    'refuses a locale that is not a short text: %.10j',
    async (locale) => {
      expect((await open(locale)).status).toBe(400)
    },
  )
})

/** Returns the language of the page for a browser whose preferred language is French. */
async function languageOfPage(url: string): Promise<string | undefined> {
  const { pathname, search } = new URL(url)
  const headers = { 'accept-language': 'fr' }
  const first = await stack.fetch(pathname + search, { headers, redirect: 'manual' })
  const location = first.headers.get('location')
  const [cookie = ''] = first.headers.getSetCookie()
  const page =
    location === null
      ? first
      : await stack.fetch(location, { headers: { ...headers, cookie: cookie.split(';')[0] ?? '' } })
  return /<html lang="(.+?)"/.exec(await page.text())?.[1]
}

test('returns a portal link in user info', async () => {
  const request = { customerRef, productRef }
  const { body } = await call<UserInfoResponse>('POST', '/v1/sdk/user-info', request)
  const sessionId = body.verifyUrl?.split('id=')[1] ?? ''
  const session = await call<Session>('GET', `${customerSessions}/${sessionId}`)
  expect(session.body.customer.reference).toBe(customerRef)
})

test('returns a checkout with a refused limit check on request', async () => {
  const request = { customerRef, productRef }
  const { body: silent } = await call<LimitsResponse>('POST', '/v1/sdk/limits', request)
  expect(silent.withinLimits).toBe(false)
  expect(silent).not.toHaveProperty('checkoutUrl')
  const limitsBody = { ...request, includeCheckoutSession: true }
  const { body } = await call<LimitsResponse>('POST', '/v1/sdk/limits', limitsBody)
  const checkoutUrl = `https://pay.example/customer/checkout?id=${body.checkoutSessionId}`
  expect(body).toEqual({ ...silent, checkoutUrl, checkoutSessionId: body.checkoutSessionId })
})

test('returns a portal link if a plan waits for activation', async () => {
  const plan = { name: 'Usage', type: 'usage-based', creditsPerUnit: 5, default: true }
  await call('POST', `/v1/sdk/products/${productRef}/plans`, plan)
  const request = { customerRef, productRef, includeCheckoutSession: true }
  const { body } = await call<LimitsResponse>('POST', '/v1/sdk/limits', request)
  expect(body).toMatchObject({ withinLimits: false, activationRequired: true })
  expect(body.confirmationUrl).toMatch('https://pay.example/customer/manage?id=')
  expect(body).not.toHaveProperty('checkoutUrl')
})

describe('links for a key without the scope manage', () => {
  async function keyOf(...scopes: string[]): Promise<{ keyId: string; secretKey: string }> {
    const answer = await call<{ keyId: string; secretKey: string }>('POST', '/v1/ui/api-keys', {
      scopes,
    })
    return answer.body
  }

  test('never lead to the portal', async () => {
    const ingest = (await keyOf('ingest')).secretKey
    const readKey = (await keyOf('ingest', 'read')).secretKey
    const of = { customerRef, productRef }
    for (const key of [ingest, readKey]) {
      const limitsBody = { ...of, includeCheckoutSession: true }
      const { body } = await call<LimitsResponse>('POST', '/v1/sdk/limits', limitsBody, key)
      expect(body).toMatchObject({ withinLimits: false, activationRequired: true })
      expect(body).not.toHaveProperty('confirmationUrl')
      expect(body.checkoutUrl).toMatch('https://pay.example/customer/checkout?id=')
      expect((await call('POST', customerSessions, { customerRef }, key)).status).toBe(403)
      expect((await call('POST', '/v1/sdk/checkout-sessions', of, key)).status).toBe(403)
      expect((await call('POST', '/v1/sdk/activate', of, key)).status).toBe(403)
    }
    const seen = await call<UserInfoResponse>('POST', '/v1/sdk/user-info', of, readKey)
    expect({ status: seen.status, url: seen.body.verifyUrl }).toEqual({ status: 200, url: null })
    expect((await call('POST', '/v1/sdk/user-info', of, ingest)).status).toBe(403)
  })

  test('are recorded with their key in the session and the audit log, without their secret', async () => {
    const { keyId, secretKey } = await keyOf('ingest')
    const limitsBody = { customerRef, productRef, includeCheckoutSession: true }
    const { body } = await call<LimitsResponse>('POST', '/v1/sdk/limits', limitsBody, secretKey)
    const [row] = await stack.database.in('sandbox')<
      { reference: string; issued_by: string; may_change_plan: boolean }[]
    >`select * from checkout_sessions where session_id = ${body.checkoutSessionId!}`
    expect(row).toMatchObject({ issued_by: `key:${keyId}`, may_change_plan: false })
    const log = await call<{ entries: object[] }>(
      'GET',
      `/v1/ui/audit-log?reference=${row!.reference}`,
    )
    expect(log.body.entries).toMatchObject([
      { kind: 'checkout_sessions', action: 'insert', actor: `key:${keyId}` },
    ])
    expect(JSON.stringify(log.body)).not.toContain(body.checkoutSessionId)
    const { sessionId } = (await call<Opened>('POST', customerSessions, { customerRef })).body
    const all = await call<{ entries: object[] }>('GET', '/v1/ui/audit-log?limit=500')
    expect(all.body.entries).toContainEqual(
      expect.objectContaining({ kind: 'customer_sessions', reference: customerRef }),
    )
    expect(JSON.stringify(all.body)).not.toContain(sessionId)
  })
})

describe('open pages of one customer', () => {
  async function createCustomer(email: string): Promise<string> {
    const { body } = await call<CustomerBody>('POST', '/v1/sdk/customers', { email })
    return body.reference
  }

  test('allow 10 open checkouts, and more as they expire', async () => {
    const of = { customerRef: await createCustomer('many@example.com'), productRef }
    const path = '/v1/sdk/checkout-sessions'
    const open = () => call<Opened>('POST', path, of)
    for (let index = 0; index < 9; index += 1) expect((await open()).status).toBe(201)
    stack.clock.set('2026-03-01T00:05:00Z')
    const together = await Promise.all([open(), open(), open()])
    expect(together.map(({ status }) => status).sort()).toEqual([201, 429, 429])
    const refused = await open()
    expect(refused.body).toMatchObject({ statusCode: 429, error: 'Too Many Requests' })
    expect(refused.headers.get('retry-after')).toBe('600')
    const other = { customerRef: await createCustomer('few@example.com'), productRef }
    expect((await call('POST', path, other)).status).toBe(201)
    stack.clock.set('2026-03-01T00:15:00Z')
    expect((await open()).status).toBe(201)
  })

  test('return the same link to polling limit checks and user info while it is fresh', async () => {
    const of = { customerRef: await createCustomer('polled@example.com'), productRef }
    const poll = async (): Promise<string[]> => {
      const limitsBody = { ...of, includeCheckoutSession: true }
      const limits = await call<LimitsResponse>('POST', '/v1/sdk/limits', limitsBody)
      const info = await call<UserInfoResponse>('POST', '/v1/sdk/user-info', of)
      expect([limits.status, info.status]).toEqual([200, 200])
      return [limits.body.confirmationUrl!, info.body.verifyUrl!]
    }
    const first = await poll()
    expect(await poll()).toEqual(first)
    stack.clock.set('2026-03-01T00:07:30Z')
    const next = await poll()
    expect(next[0]).not.toBe(first[0])
    for (let index = 0; index < 60; index += 1) await poll()
  })

  test('allow 50 unused portal links', async () => {
    const of = { customerRef: await createCustomer('links@example.com') }
    for (let index = 0; index < 50; index += 1) {
      expect((await call('POST', customerSessions, of)).status).toBe(201)
    }
    const refused = await call('POST', customerSessions, of)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '900'])
  })
})
