import { createHmac, createPublicKey, randomUUID, type JsonWebKey } from 'node:crypto'
import { revokeToken } from '@tollgate/domain/customer-auth/revoked-tokens'
import { afterAll, expect, test } from 'vitest'
import { request, send, stateless, toolCall } from './mcp-caller.ts'
import { ProxyStack } from './proxy-stack.ts'
import { startScriptedOrigin } from './scripted-origin.ts'

/* Which requests are authorized, and the answers to those that are not. */

const stack = await ProxyStack.start({ TOLLGATE_MCP_FRESH_MS: '20' })
const origin = await startScriptedOrigin()
const originUrl = origin.url
const server = await stack.addServer({ originUrl })
const sibling = await stack.addServer({ originUrl })
const live = await stack.addServer({ originUrl, environment: 'live' })
const foreign = await stack.addServer({ originUrl, providerId: 'prov_other' })

afterAll(async () => {
  await stack.stop()
  await origin.stop()
})

const ping = request(1, 'ping')
const metadataUrl = () => {
  const { origin: host, pathname } = new URL(server.proxyUrl)
  return `${host}/.well-known/oauth-protected-resource${pathname}`
}

test('accepts a valid token', async () => {
  const { status } = await send(server.proxyUrl, await stack.token(server), ping)
  expect(status).toBe(200)
  // The URL with a final slash also works, because a redirect would lose the body of a POST.
  const { status: slashed } = await send(`${server.proxyUrl}/`, await stack.token(server), ping)
  expect(slashed).toBe(200)
})

const anHourAgo = () => Math.floor(Date.now() / 1000) - 3_600

const wrongTokens: [name: string, make: () => Promise<string>][] = [
  ['of another product', () => stack.token(sibling)],
  ['of the other environment', () => stack.token(live)],
  ['of another provider', () => stack.token(foreign)],
  ['of another provider that names this server', () => stack.token(foreign, hereClaims())],
  ['of the other environment that names this server', () => stack.token(live, hereClaims())],
  ['for this server and another one', () => stack.token(server, { aud: [server.proxyUrl, 'x'] })],
  ['for the host alone', () => stack.token(server, { aud: new URL(server.proxyUrl).origin })],
  ['of another issuer', () => stack.token(server, { iss: sibling.issuer })],
  ['that has expired', () => stack.token(server, { exp: anHourAgo() })],
  ['that never expires', () => stack.token(server, { exp: undefined as unknown as number })],
  ['without an id', () => stack.token(server, { jti: undefined as unknown as string })],
  ['that is no access token', () => stack.token(server, {}, { typ: 'JWT' })],
  ['whose subject is not its customer', () => stack.token(server, { customerRef: 'cus_eve' })],
  ['without a signature', () => forged('none')],
  ['signed with the public key', () => forged('HS256')],
  ['that is no JWT', () => Promise.resolve('nonsense')],
  ['with an altered subject', () => altered()],
]

const hereClaims = () => ({ iss: server.issuer, aud: server.proxyUrl })

/** Returns a token with valid claims and another algorithm. */
async function forged(alg: 'none' | 'HS256'): Promise<string> {
  const good = await stack.token(server)
  const [header, claims] = good.split('.') as [string, string]
  const { kid } = JSON.parse(Buffer.from(header, 'base64url').toString()) as { kid: string }
  const forgedHeader = Buffer.from(JSON.stringify({ alg, typ: 'at+jwt', kid })).toString(
    'base64url',
  )
  const content = `${forgedHeader}.${claims}`
  if (alg === 'none') return `${content}.`
  const [row] = await stack.database.database.in('sandbox')<{ public_jwk: JsonWebKey }[]>`
    select public_jwk from oauth_signing_keys where kid = ${kid}`
  const key = createPublicKey({ key: row!.public_jwk, format: 'jwk' })
  const pem = key.export({ type: 'spki', format: 'pem' })
  return `${content}.${createHmac('sha256', pem).update(content).digest('base64url')}`
}

async function altered(): Promise<string> {
  const [header, claims, signature] = (await stack.token(server)).split('.')
  const text = Buffer.from(claims!, 'base64url').toString().replaceAll('cus_ada', 'cus_eve')
  return [header, Buffer.from(text).toString('base64url'), signature].join('.')
}

test.each(wrongTokens)('refuses a token %s', async (_name, make) => {
  const { status, headers, body } = await send(server.proxyUrl, await make(), ping)
  expect(status).toBe(401)
  expect(body).toEqual({ jsonrpc: '2.0', id: 1, error: { code: -32_001, message: 'Unauthorized' } })
  const challenge = `Bearer error="invalid_token", resource_metadata="${metadataUrl()}"`
  expect(headers.get('www-authenticate')).toBe(challenge)
})

test('refuses a token that is revoked while it is in use', async () => {
  const jti = randomUUID()
  const token = await stack.token(server, { jti })
  expect((await send(server.proxyUrl, token, ping)).status).toBe(200)
  const now = new Date()
  const expiresAt = new Date(now.getTime() + 600_000)
  const sql = stack.database.database.in('sandbox')
  await revokeToken(sql, server.providerId, { jti, expiresAt }, now)
  await expect.poll(async () => (await send(server.proxyUrl, token, ping)).status).toBe(401)
})

test('directs callers without a token to sign-in, even before their request is read', async () => {
  for (const body of [ping, '{', toolCall(1, 'fetch'), stateless(1, 'server/discover').body]) {
    const { status, headers } = await send(server.proxyUrl, undefined, body)
    expect(status).toBe(401)
    expect(headers.get('www-authenticate')).toBe(`Bearer resource_metadata="${metadataUrl()}"`)
  }
  const { status } = await send(server.proxyUrl, undefined, undefined, {}, 'GET')
  expect(status).toBe(401)
})

test('describes the server as a protected resource', async () => {
  const { status, body, headers } = await send(metadataUrl(), undefined, undefined, {}, 'GET')
  expect(status).toBe(200)
  expect(headers.get('access-control-allow-origin')).toBe('*')
  expect(body).toEqual({
    resource: server.proxyUrl,
    authorization_servers: [server.issuer],
    scopes_supported: ['openid', 'profile', 'email'],
    bearer_methods_supported: ['header'],
  })
})

test('requires no token for public tools of a server, but for everything else', async () => {
  const tools = { fetch: 'public' } as const
  const open = await stack.addServer({ originUrl: origin.url, tools })
  const listed = await send(open.proxyUrl, undefined, request(1, 'tools/list'))
  expect(listed.status).toBe(200)
  const called = await send(open.proxyUrl, undefined, toolCall(2, 'fetch'))
  expect(called.body).toMatchObject({ id: 2, result: {} })
  for (const name of ['search', 'upgrade']) {
    expect((await send(open.proxyUrl, undefined, toolCall(3, name))).status).toBe(401)
  }
  const wrong = await send(open.proxyUrl, 'nonsense', request(4, 'ping'))
  expect(wrong.status).toBe(401)
})

test.each([
  ['https://evil.example', 403],
  ['null', 403],
  ['http://localhost:3000', 200],
  ['https://claude.ai', 200],
])('answers a page of %s with %i', async (page, expected) => {
  const token = await stack.token(server)
  const { status } = await send(server.proxyUrl, token, ping, { origin: page })
  expect(status).toBe(expected)
})

test('answers 404 at an address without a server', async () => {
  const { origin: host } = new URL(server.proxyUrl)
  for (const path of [
    '/mcp/nothing',
    '/',
    `/mcp/${server.subdomain}`,
    '/.well-known/openid-configuration',
  ]) {
    expect((await send(host + path, undefined, ping)).status).toBe(404)
  }
})
