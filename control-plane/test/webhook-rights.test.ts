import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type {
  WebhookEndpointBody,
  WebhookEndpointWithSecretBody,
} from '@tollgate/schemas/http/webhook-endpoints'
import { createUser, quickPasswords, signIn } from './console-user.ts'
import { startTestStack, type Tenant, type TestStack } from './test-stack.ts'

/* Who may look at webhook endpoints, who may change them, and who sees no secret. */

const path = '/v1/webhook_endpoints'
const url = 'https://hooks.example.com/tollgate'

let stack: TestStack
let tenant: Tenant
/** With its secret, as it was told once. */
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

test('a key for webhooks alone looks at endpoints and changes them; one that reads looks', async () => {
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
    const looked = await stack.call(key, 'GET', `${path}/${id}`)
    const changed = await stack.call(key, 'PATCH', `${path}/${id}`, { enabledEvents: [] })
    return [looked.status, changed.status]
  }
  expect(await statusOf('webhooks')).toEqual([200, 200])
  expect(await statusOf('read')).toEqual([200, 403])
  expect(await statusOf('manage')).toEqual([403, 403])
})

test('who is signed in to the console manages endpoints there', async () => {
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

test('who may look alone sees no secret, changes nothing and has nothing sent', async () => {
  const { id, secret } = endpoint
  const email = `looking.${tenant.providerId}@example.com`
  await createUser(stack, tenant, email, 'member')
  const { accessToken } = await signIn(stack, email)
  for (const at of ['/v1/ui/webhook_endpoints', `/v1/ui/webhook_endpoints/${id}`]) {
    const looked = await stack.call(accessToken, 'GET', at)
    expect(looked.status).toBe(200)
    expect(JSON.stringify(looked.body)).not.toContain(secret.slice('whsec_'.length))
    expect(looked.body).not.toHaveProperty('secret')
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
