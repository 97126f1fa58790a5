import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { CustomerBody } from '@tollgate/schemas/http/customers'
import { startTestStack, type Tenant, type TestStack } from './test-stack.ts'

let stack: TestStack
let tenant: Tenant

beforeAll(async () => {
  stack = await startTestStack()
  tenant = await stack.createTenant()
})
afterAll(() => stack.stop())

const unauthorized = {
  statusCode: 401,
  error: 'Unauthorized',
  message: expect.stringContaining('Invalid or expired secret key') as string,
}

describe('keys', () => {
  test.each([
    ['no header', undefined],
    ['no key', ''],
    ['another scheme', 'Basic abc'],
    ['no such key', `Bearer sk_live_${'a'.repeat(49)}`],
    ['two keys', 'Bearer a b'],
  ])('%s', async (_, authorization) => {
    const headers: Record<string, string> = authorization === undefined ? {} : { authorization }
    const answer = await stack.callRaw(undefined, 'GET', '/v1/sdk/products', { headers })
    expect([answer.status, answer.body]).toMatchObject([401, unauthorized])
  })

  test('refuse a wrong checksum', async () => {
    const last = tenant.sandboxKey.at(-1) === 'a' ? 'b' : 'a'
    const key = tenant.sandboxKey.slice(0, -1) + last
    expect((await stack.call(key, 'GET', '/v1/sdk/products')).body).toMatchObject(unauthorized)
  })

  test('refuse a request before its body is read', async () => {
    const answer = await stack.callRaw(undefined, 'POST', '/v1/sdk/products', { body: '{' })
    expect(answer.status).toBe(401)
  })
})

describe('bodies', () => {
  const post = (raw: RequestInit) =>
    stack.callRaw<object>(tenant.sandboxKey, 'POST', '/v1/sdk/products', raw)

  test.each(['GET', 'DELETE'])('count an empty JSON body on %s as no body', async (method) => {
    const path = '/v1/sdk/products/prd_NOBODYS'
    const answer = await stack.callRaw(tenant.sandboxKey, method, path, {})
    expect([answer.status, answer.body.message]).toEqual([
      404,
      'Product with reference prd_NOBODYS not found',
    ])
  })

  test.each([
    ['empty', '', 400],
    ['no JSON', '{"name":', 400],
    ['a text with a length of its own', '{"name":{"length":{"toString":1}}}', 400],
    ['no object', '[]', 400],
    ['null', 'null', 400],
    ['a prototype key', '{"name":"a","__proto__":{"x":1}}', 400],
    ['a nested prototype key', '{"name":"a","metadata":{"__proto__":{"x":1}}}', 400],
    ['a number beyond doubles', '{"name":1e400}', 400],
    ['a lone surrogate', '{"name":"\\ud800"}', 400],
    ['U+0000', '{"name":"a\\u0000b"}', 400],
    ['U+0000 deep in metadata', '{"name":"a","metadata":{"b":["\\u0000"]}}', 400],
    ['too deep', `{"name":"a","metadata":${'{"a":'.repeat(50)}1${'}'.repeat(50)}}`, 400],
    ['brackets without end', '['.repeat(500_000), 400],
    ['too large', `{"name":"${'a'.repeat(1_100_000)}"}`, 413],
  ])('%s', async (_, body, status) => {
    const answer = await post({ body })
    expect(answer.status).toBe(status)
    expect(answer.body).toMatchObject({
      statusCode: status,
      error: status === 413 ? 'Payload Too Large' : 'Bad Request',
      message: expect.any(String) as string,
    })
  })

  test('refuse another content type', async () => {
    const answer = await post({ body: 'name=a', headers: { 'content-type': 'text/csv' } })
    expect([answer.status, answer.body.error]).toEqual([415, 'Unsupported Media Type'])
  })

  test.each<[string, string | Buffer]>([
    ['a text', '{"name":"a"}'],
    ['bytes', Buffer.from('{"name":"a"}')],
  ])('parse a body without a content type as JSON: %s', async (_, body) => {
    const headers = { authorization: `Bearer ${tenant.sandboxKey}` }
    const answer = await stack.fetch('/v1/sdk/products', { method: 'POST', headers, body })
    expect([answer.status, await answer.json()]).toMatchObject([201, { name: 'a' }])
  })

  test('use the last of duplicate keys', async () => {
    const answer = await post({ body: '{"name":"first","name":"second"}' })
    expect(answer.body).toMatchObject({ name: 'second' })
  })

  test('report every violation with its place', async () => {
    stack.clock.set('2026-01-02T03:04:05.678Z')
    const answer = await post({ body: '{"config":7,"isMcpPay":"yes"}' })
    expect(answer.body).toMatchObject({
      statusCode: 400,
      error: 'Bad Request',
      message: 'Validation failed',
      timestamp: '2026-01-02T03:04:05.678Z',
      path: '/v1/sdk/products',
      errors: expect.arrayContaining([
        expect.objectContaining({ path: ['name'], message: 'Required' }),
        expect.objectContaining({ path: ['isMcpPay'], expected: 'boolean', received: 'string' }),
        expect.objectContaining({ path: ['config'] }),
      ]) as unknown[],
    })
  })
})

describe('paths', () => {
  test('refuse a path that cannot be decoded, with a regular error body', async () => {
    const answer = await stack.call(tenant.sandboxKey, 'GET', '/v1/sdk/products/%ED%A0%80')
    expect([answer.status, answer.body]).toMatchObject([
      400,
      {
        statusCode: 400,
        error: 'Bad Request',
        message: "'/v1/sdk/products/%ED%A0%80' is not a valid url component",
      },
    ])
  })

  test('respond 404 for a path without a route', async () => {
    const { status, body } = await stack.call(tenant.sandboxKey, 'POST', '/v1/sdk/nothing?x=1')
    expect([status, body]).toMatchObject([
      404,
      { statusCode: 404, error: 'Not Found', message: 'Cannot POST /v1/sdk/nothing' },
    ])
  })

  test.each(['%00', '%ED%A0%80', '%ZZ', 'a'.repeat(300), '%F0%9F%98%80'.repeat(400)])(
    'refuse the hostile reference %s',
    async (reference) => {
      const path = `/v1/sdk/customers/${reference}`
      const { status, body } = await stack.call(tenant.sandboxKey, 'GET', path)
      expect([400, 404, 414]).toContain(status)
      expect(body.statusCode).toBe(status)
    },
  )

  test('accept references with any character', async () => {
    const externalRef = 'auth0|a/b?c=d&é 😀%'
    const created = await stack.call<CustomerBody>(tenant.sandboxKey, 'POST', '/v1/sdk/customers', {
      email: 'any@example.com',
      externalRef,
    })
    const path = `/v1/sdk/customers/${encodeURIComponent(externalRef)}`
    const found = await stack.call<CustomerBody>(tenant.sandboxKey, 'GET', path)
    expect(found.body.reference).toBe(created.body.reference)
  })
})
