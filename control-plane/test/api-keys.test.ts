import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { serviceKeyOf, type ServiceKeyHolder } from '@tollgate/domain/api-keys/service-key'
import { readFolderSecret } from '@tollgate/platform/service/folder-secret'
import type { ApiKeyBody } from '@tollgate/schemas/http/api-keys'
import { startTestStack, type Tenant, type TestStack } from './test-stack.ts'

/* Keys that a provider creates, restricts, rotates and revokes over HTTP. */

type Issued = ApiKeyBody & { secretKey: string }

const path = '/v1/ui/api-keys'
let stack: TestStack
let tenant: Tenant

/** While this is true, the hot state refuses documents. */
let isAway = false

beforeAll(async () => {
  stack = await startTestStack({
    wrapHotState: (hotState) =>
      new Proxy(hotState, {
        get: (target, name) => {
          const part: unknown = Reflect.get(target, name)
          if (typeof part !== 'function') return part
          if (isAway && (name === 'putDocument' || name === 'deleteDocument')) {
            return () => Promise.reject(new Error('the hot state is away'))
          }
          return part.bind(target) as unknown
        },
      }),
  })
})
afterAll(() => stack.stop())
beforeEach(async () => {
  stack.clock.set('2026-03-01T00:00:00Z')
  tenant = await stack.createTenant()
})

function call<Body>(method: string, at: string, body?: unknown, key = tenant.sandboxKey) {
  return stack.call<Body>(key, method, at, body)
}

async function issue(fields: object = {}): Promise<Issued> {
  return (await call<Issued>('POST', path, fields)).body
}

async function statusOf(secretKey: string, method = 'GET', at = '/v1/sdk/products', body?: object) {
  return (await call(method, at, body, secretKey)).status
}

test("accepts a new key at once, in the caller's environment, and shows it once", async () => {
  const { status, body } = await call<Issued>('POST', path, { name: 'ci' })
  expect(status).toBe(201)
  expect(body).toMatchObject({ name: 'ci', environment: 'sandbox', status: 'active' })
  expect(body.secretKey).toMatch(/^sk_sandbox_/)
  expect(await statusOf(body.secretKey)).toBe(200)
  const listed = await call<{ apiKeys: ApiKeyBody[] }>('GET', path)
  expect(listed.body.apiKeys.map(({ keyId }) => keyId)).toContain(body.keyId)
  expect(JSON.stringify(listed.body)).not.toContain(body.secretKey)
  const live = await call<{ apiKeys: ApiKeyBody[] }>('GET', path, undefined, tenant.liveKey)
  expect(live.body.apiKeys.map(({ keyId }) => keyId)).not.toContain(body.keyId)
})

describe('scopes', () => {
  test('refuses changes with a key for reading', async () => {
    const { secretKey } = await issue({ scopes: ['read'] })
    expect(await statusOf(secretKey)).toBe(200)
    const refused = await call<object>('POST', '/v1/sdk/products', { name: 'X' }, secretKey)
    expect({ status: refused.status, body: refused.body }).toMatchObject({
      status: 403,
      body: {
        statusCode: 403,
        error: 'Forbidden',
        message: 'This key does not have the scope manage',
      },
    })
  })

  test('allows only limit checks with a key for ingest', async () => {
    const { secretKey } = await issue({ scopes: ['ingest'] })
    const check = { customerRef: 'nobody', productRef: 'prd_NONE' }
    expect(await statusOf(secretKey, 'POST', '/v1/sdk/limits', check)).toBe(404)
    expect(await statusOf(secretKey)).toBe(403)
    expect(await statusOf(secretKey, 'POST', '/v1/sdk/user-info', check)).toBe(403)
    expect(await statusOf(secretKey, 'POST', '/v1/sdk/products', { name: 'X' })).toBe(403)
    expect(await statusOf(secretKey, 'GET', path)).toBe(403)
  })

  test("refuses to create a key with more scopes than the caller's", async () => {
    const { secretKey } = await issue({ scopes: ['manage', 'read'] })
    const wider = await call<object>('POST', path, { scopes: ['ingest'] }, secretKey)
    expect(wider.status).toBe(403)
    const same = await call<Issued>('POST', path, {}, secretKey)
    expect(same.body.scopes).toEqual(['read', 'manage'])
  })

  test.each([[[]], [['everything']]])('refuses the scopes %j', async (scopes) => {
    expect((await call('POST', path, { scopes })).status).toBe(400)
  })
})

test('reads the key from X-API-Key if there is no Authorization header', async () => {
  const statusWith = async (headers: Record<string, string>): Promise<number> =>
    (await stack.fetch('/v1/sdk/products', { headers })).status
  const { sandboxKey } = tenant
  expect(await statusWith({ 'x-api-key': sandboxKey })).toBe(200)
  expect(await statusWith({ 'x-api-key': 'sk_sandbox_x' })).toBe(401)
  const wrong = { authorization: 'Bearer sk_sandbox_x' }
  expect(await statusWith({ ...wrong, 'x-api-key': sandboxKey })).toBe(401)
  expect(
    await statusWith({ authorization: `Bearer ${sandboxKey}`, 'x-api-key': 'sk_sandbox_x' }),
  ).toBe(200)
})

test('refuses a key after its expiry', async () => {
  const { secretKey } = await issue({ expiresAt: '2026-03-02T00:00:00Z' })
  expect(await statusOf(secretKey)).toBe(200)
  stack.clock.set('2026-03-02T00:00:00Z')
  expect(await statusOf(secretKey)).toBe(401)
  expect((await call('POST', path, { expiresAt: '2026-03-01T23:59:59Z' })).status).toBe(400)
})

test('gives a successor the same scopes, and accepts the old key during the overlap', async () => {
  const old = await issue({ scopes: ['read'], name: 'reports' })
  const { status, body } = await call<Issued>('POST', `${path}/${old.keyId}/rotate`, {
    overlapHours: 1,
  })
  expect(status).toBe(201)
  expect(body).toMatchObject({ scopes: ['read'], name: 'reports' })
  expect([await statusOf(old.secretKey), await statusOf(body.secretKey)]).toEqual([200, 200])
  stack.clock.set('2026-03-01T01:00:00Z')
  expect([await statusOf(old.secretKey), await statusOf(body.secretKey)]).toEqual([401, 200])
})

test("refuses to create or rotate a key that has more scopes or a later expiry than the caller's", async () => {
  const narrow = await issue({ scopes: ['manage'], expiresAt: '2026-03-02T00:00:00Z' })
  const wide = await issue()
  expect(await statusOf(narrow.secretKey, 'POST', `${path}/${wide.keyId}/rotate`)).toBe(403)
  const own = await call<Issued>('POST', `${path}/${narrow.keyId}/rotate`, {}, narrow.secretKey)
  expect(own.body.expiresAt).toBe('2026-03-02T00:00:00.000Z')
  const made = await call<Issued>('POST', path, {}, own.body.secretKey)
  expect(made.body.expiresAt).toBe('2026-03-02T00:00:00.000Z')
  stack.clock.set('2026-03-02T00:00:00Z')
  expect((await call('POST', `${path}/${narrow.keyId}/rotate`)).status).toBe(400)
})

test("refuses to rotate another key into one that outlives the caller's", async () => {
  const expiresAt = '2026-03-02T00:00:00.000Z'
  const expiring = await issue({ scopes: ['manage'], expiresAt })
  const lasting = await issue({ scopes: ['manage'] })
  expect(lasting.expiresAt).toBeUndefined()
  const at = `${path}/${lasting.keyId}/rotate`
  const { body } = await call<Issued>('POST', at, {}, expiring.secretKey)
  expect(body.expiresAt).toBe(expiresAt)
  const next = await call<Issued>('POST', `${path}/${body.keyId}/rotate`, {}, body.secretKey)
  expect(next.body.expiresAt).toBe(expiresAt)
  stack.clock.set(expiresAt)
  expect([await statusOf(body.secretKey), await statusOf(next.body.secretKey)]).toEqual([401, 401])
})

test('refuses a revoked key at once, and does not rotate it', async () => {
  const { keyId, secretKey } = await issue()
  const { body } = await call<ApiKeyBody>('DELETE', `${path}/${keyId}`)
  expect(body.status).toBe('revoked')
  expect(await statusOf(secretKey)).toBe(401)
  expect((await call('DELETE', `${path}/${keyId}`)).status).toBe(200)
  expect((await call('POST', `${path}/${keyId}/rotate`)).status).toBe(400)
})

test('returns the secret of a new key and revokes keys while the hot state is down', async () => {
  isAway = true
  try {
    const made = await call<Issued>('POST', path, {})
    expect(made.status).toBe(201)
    expect(await statusOf(made.body.secretKey)).toBe(200)
    const { keyId } = made.body
    const next = await call<Issued>('POST', `${path}/${keyId}/rotate`, { overlapHours: 0 })
    expect(next.status).toBe(201)
    expect([await statusOf(made.body.secretKey), await statusOf(next.body.secretKey)]).toEqual([
      401, 200,
    ])
    expect((await call('DELETE', `${path}/${next.body.keyId}`)).status).toBe(200)
    expect(await statusOf(next.body.secretKey)).toBe(401)
  } finally {
    isAway = false
  }
})

test('responds 404 for keys of other providers and environments', async () => {
  const { keyId } = await issue()
  const stranger = await stack.createTenant()
  for (const key of [stranger.sandboxKey, tenant.liveKey]) {
    expect(await statusOf(key, 'DELETE', `${path}/${keyId}`)).toBe(404)
    expect(await statusOf(key, 'POST', `${path}/${keyId}/rotate`)).toBe(404)
  }
  expect((await call('DELETE', `${path}/key_NONE`)).status).toBe(404)
})

describe('a key of another service', () => {
  const keyFor = async (holder: Partial<ServiceKeyHolder> = {}): Promise<string> =>
    serviceKeyOf(await readFolderSecret(stack.folder), {
      environment: 'sandbox',
      providerId: tenant.providerId,
      ...holder,
    })

  test('acts for the provider that it names, is not listed, and appears in the audit log', async () => {
    const key = await keyFor()
    const { status } = await call('POST', '/v1/sdk/products', { name: 'By service' }, key)
    expect(status).toBe(201)
    const { body: listed } = await call<{ apiKeys: ApiKeyBody[] }>('GET', path, undefined, key)
    expect(listed.apiKeys).toHaveLength(1)
    const { body: audit } = await call<{ entries: { actor: string }[] }>('GET', '/v1/ui/audit-log')
    expect(audit.entries.map(({ actor }) => actor)).toContain('service:mcp-proxy')
    expect(JSON.stringify(audit)).not.toContain(key.slice(-32))
    const live = await call<{ products: object[] }>(
      'GET',
      '/v1/sdk/products',
      undefined,
      tenant.liveKey,
    )
    expect(JSON.stringify(live.body)).not.toContain('By service')
    expect((await call('GET', '/v1/sdk/key', undefined, key)).body).toEqual({
      ...{ keyId: 'service', providerId: tenant.providerId, environment: 'sandbox' },
      ...{ expiresAtMs: null, isMisplaced: false, scopes: ['ingest', 'read', 'manage'] },
    })
  })

  test('does not count as a console user', async () => {
    const { status, body } = await call('GET', '/v1/ui/auth/me', undefined, await keyFor())
    expect([status, body.code]).toEqual([403, 'user_required'])
  })

  test('is refused for a provider that does not exist, is not live yet, or differs from the named one', async () => {
    const [other, unknown, live] = await Promise.all([
      keyFor({ providerId: 'prv_OTHER' }),
      keyFor({ providerId: 'prv_UNKNOWN' }),
      keyFor({ environment: 'live' }),
    ])
    expect(await statusOf(live)).toBe(200)
    const mixed = other.slice(0, -32) + (await keyFor()).slice(-32)
    for (const [key, code] of [
      [unknown, 'invalid_key'],
      [mixed, 'malformed_key'],
    ] as const) {
      const { status, body } = await call('GET', '/v1/sdk/products', undefined, key)
      expect([status, body.code]).toEqual([401, code])
    }
    await stack.database.control`
      update providers set is_live = false where provider_id = ${tenant.providerId}`
    const early = await call('GET', '/v1/sdk/products', undefined, live)
    expect([early.status, early.body.code]).toEqual([403, 'key_env_mismatch'])
    expect(await statusOf(await keyFor())).toBe(200)
  })
})
