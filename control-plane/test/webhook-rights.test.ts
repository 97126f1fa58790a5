import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type {
  WebhookEndpointBody,
  WebhookEndpointWithSecretBody,
} from '@tollgate/schemas/http/webhook-endpoints'
import { createUser, quickPasswords, signIn } from './console-user.ts'
import { startTestStack, type Tenant, type TestStack } from './test-stack.ts'

/* Who may read webhook endpoints, who may change them, and who sees no secret. */

const path = '/v1/webhook_endpoints'
const url = 'https://hooks.example.com/tollgate'

let stack: TestStack
let tenant: Tenant
/** The endpoint with its secret, which only the response to its creation contains. */
let endpoint: WebhookEndpointWithSecretBody

beforeAll(async () => {
  stack = await startTestStack({ settings: quickPasswords })
})
afterAll(() => stack.stop())

beforeEach(async () => {
  tenant = await stack.createTenant()
  const { sandboxKey } = tenant
  const made = await stack.call<WebhookEndpointWithSecretBody>(sandboxKey, 'POST', path, { url })
  endpoint = made.body
})

test('allows a key for webhooks to read and change endpoints, and a key for reading only to read', async () => {
  const { id } = endpoint
  const keyOf = async (scope: string): Promise<string> => {
    const { body } = await stack.call<{ secretKey: string }>(
      tenant.sandboxKey,
      'POST',
      '/v1/ui/api-keys',
      { scopes: [scope] },
    )
    return body.secretKey
  }
  const statusOf = async (scope: string): Promise<number[]> => {
    const key = await keyOf(scope)
    const fetched = await stack.call(key, 'GET', `${path}/${id}`)
    const changed = await stack.call(key, 'PATCH', `${path}/${id}`, { enabledEvents: [] })
    return [fetched.status, changed.status]
  }
  expect(await statusOf('webhooks')).toEqual([200, 200])
  expect(await statusOf('read')).toEqual([200, 403])
  expect(await statusOf('manage')).toEqual([403, 403])
})

test('sends links only to an endpoint whose address was set by a caller with the scope manage', async () => {
  const { sandboxKey } = tenant
  const issued = await stack.call<{ secretKey: string }>(sandboxKey, 'POST', '/v1/ui/api-keys', {
    scopes: ['webhooks'],
  })
  const call = async (key: string, method: string, at: string, body: object) =>
    (await stack.call<WebhookEndpointBody>(key, method, at, body)).body
  const { secretKey } = issued.body
  expect(endpoint.sendsLinks).toBe(true)
  const own = await call(secretKey, 'POST', path, { url })
  expect(own.sendsLinks).toBe(false)
  for (const made of [own, endpoint]) {
    const at = `${path}/${made.id}`
    const ofAddress = made.sendsLinks
    // A change that keeps the address does not change `sendsLinks`.
    expect((await call(secretKey, 'PATCH', at, { enabledEvents: [] })).sendsLinks).toBe(ofAddress)
    expect((await call(sandboxKey, 'PATCH', at, { status: 'disabled' })).sendsLinks).toBe(ofAddress)
    expect((await call(secretKey, 'PUT', at, { url })).sendsLinks).toBe(false)
    expect((await call(sandboxKey, 'PATCH', at, { url })).sendsLinks).toBe(true)
    expect((await call(secretKey, 'PATCH', at, { url })).sendsLinks).toBe(false)
  }
})

test('lets signed-in console users manage endpoints under the console path', async () => {
  const email = `${tenant.providerId}@example.com`
  await createUser(stack, tenant, email)
  const { accessToken } = await signIn(stack, email)
  const made = await stack.call<WebhookEndpointBody>(
    accessToken,
    'POST',
    '/v1/ui/webhook_endpoints',
    { url },
  )
  expect(made.status).toBe(201)
  const seen = await stack.call(tenant.sandboxKey, 'GET', `${path}/${made.body.id}`)
  expect(seen.body).toMatchObject({ id: made.body.id })
  expect((await stack.call(accessToken, 'GET', path)).status).toBe(401)
})

test('shows readers no secret, and lets them neither change nor send', async () => {
  const { id, secret } = endpoint
  const email = `looking.${tenant.providerId}@example.com`
  await createUser(stack, tenant, email, 'member')
  const { accessToken } = await signIn(stack, email)
  for (const at of ['/v1/ui/webhook_endpoints', `/v1/ui/webhook_endpoints/${id}`]) {
    const fetched = await stack.call(accessToken, 'GET', at)
    expect(fetched.status).toBe(200)
    expect(JSON.stringify(fetched.body)).not.toContain(secret.slice('whsec_'.length))
    expect(fetched.body).not.toHaveProperty('secret')
  }
  for (const at of ['/v1/ui/webhook-deliveries', '/v1/ui/webhook-replays']) {
    expect((await stack.call(accessToken, 'GET', at)).status).toBe(200)
  }
  const refused: [string, string, object][] = [
    ['POST', '/v1/ui/webhook_endpoints', { url }],
    ['PATCH', `/v1/ui/webhook_endpoints/${id}`, { url }],
    ['POST', `/v1/ui/webhook_endpoints/${id}/rotate`, {}],
    ['POST', `/v1/ui/webhook_endpoints/${id}/promote`, {}],
    ['DELETE', `/v1/ui/webhook_endpoints/${id}`, {}],
    ['POST', `/v1/ui/webhooks/${id}/test`, {}],
    ['POST', '/v1/ui/webhook-replays', { endpointId: id, onlyFailed: true }],
    ['POST', '/v1/ui/webhook-replays/wr_1/cancel', {}],
    ['POST', '/v1/ui/webhook-deliveries/dlv_1/replay', {}],
  ]
  for (const [method, at, body] of refused) {
    expect([at, (await stack.call(accessToken, method, at, body)).status]).toEqual([at, 403])
  }
  expect((await stack.call(tenant.liveKey, 'POST', `/v1/ui/webhooks/${id}/test`)).status).toBe(404)
})

test("shows links of customers' pages in events and receivers' responses only with the scope manage", async () => {
  const { sandboxKey, providerId } = tenant
  const make = async (path: string, body: object): Promise<Record<string, string>> =>
    (await stack.call<Record<string, string>>(sandboxKey, 'POST', path, body)).body
  const { reference: customerRef } = await make('/v1/sdk/customers', { email: 'x@example.com' })
  const { reference: productRef } = await make('/v1/sdk/products', { name: 'API' })
  const opened = await make('/v1/sdk/checkout-sessions', { customerRef, productRef })
  const portal = await make('/v1/sdk/customers/customer-sessions', { customerRef })
  const [sent] = await stack.database.in('sandbox')<{ reference: string; event_id: string }[]>`
    select reference, event_id from webhook_deliveries
    where provider_id = ${providerId} and event_type = 'checkout_session.created'`
  await stack.database.in('sandbox')`
    insert into webhook_attempts (provider_id, delivery_ref, number, claim, is_reversed, started_at, duration_ms,
      connect_ms, answer_ms, status, answer, address, is_late)
    values (${providerId}, ${sent!.reference}, 1, 1, false, now(), 84, 12, 80, 200,
      ${`got ${opened['checkoutUrl']}`}, '203.0.113.7', false)`

  const email = `reader.${providerId}@example.com`
  await createUser(stack, tenant, email, 'member')
  const { accessToken } = await signIn(stack, email)
  const { secretKey: readKey } = await make('/v1/ui/api-keys', { scopes: ['read', 'webhooks'] })
  const places = [
    '/v1/ui/events',
    `/v1/ui/events/${sent!.event_id}`,
    '/v1/ui/webhook-deliveries',
    `/v1/ui/webhook-deliveries/${sent!.reference}`,
    `/v1/ui/webhook_endpoints/${endpoint.id}`,
    '/v1/ui/audit-log',
  ]
  const readBy = async (credential: string): Promise<string> => {
    const texts = []
    for (const place of places) {
      const { status, body } = await stack.call(credential, 'GET', place)
      expect([place, status]).toEqual([place, 200])
      texts.push(JSON.stringify(body))
    }
    return texts.join()
  }
  for (const credential of [accessToken, readKey!]) {
    const text = await readBy(credential)
    expect(text).not.toContain(opened['sessionId'])
    expect(text).not.toContain(portal['sessionId'])
    expect(text).toContain('"url":"[redacted]"')
    expect(text).toContain('"session_id":"[redacted]"')
    expect(text).toContain('"answer":"[redacted]"')
  }
  const at = `/v1/sdk/customers/customer-sessions/${portal['sessionId']}`
  const { body } = await stack.call<{ customerUrl: string }>(readKey, 'GET', at)
  expect(body.customerUrl).toBe('[redacted]')
  expect(await readBy(sandboxKey)).toContain(`"url":"${opened['checkoutUrl']}"`)
  const stored = await stack.database.in('sandbox')`
    select object ->> 'url' as url from outbox where event_id = ${sent!.event_id}`
  expect(stored).toEqual([{ url: opened['checkoutUrl'] }])
})
