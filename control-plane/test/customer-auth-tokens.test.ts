import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import { createLogger } from '@tollgate/platform/observability/logger'
import { readSettings } from '@tollgate/platform/config/settings'
import type { GuardedHttp } from '@tollgate/platform/outbound/guarded-http'
import { SecretBox } from '@tollgate/platform/secrets/secret-box'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { endSignInsCommand } from '../src/cli/sign-in-commands.ts'
import { cliActor, type CliParts } from '../src/cli/open-cli-parts.ts'
import { createDocumentFetch, isDocumentStored } from '../src/customer-auth/client-documents.ts'
import { customerAuthSettings } from '../src/customer-auth/customer-auth-settings.ts'
import { authorize } from '../src/customer-auth/endpoints.ts'
import { Issuers } from '../src/customer-auth/issuers.ts'
import {
  Browser,
  Caller,
  createWorld,
  drawPkce,
  hosted,
  liveTemplate,
  redirectUri,
  startAuthStack,
  template,
  type Client,
  type World,
} from './customer-auth-world.ts'
import type { TestStack } from './test-stack.ts'

/* Tokens, signing keys, and clients that do not register themselves. */

let stack: TestStack
let world: World
let caller: Caller
let client: Client

beforeAll(async () => {
  stack = await startAuthStack()
  world = await createWorld(stack)
  caller = new Caller(stack, world)
  client = (await caller.register()).body
})
afterAll(() => stack.stop())

type CustomerBody = { reference: string }

describe('refresh and revocation', () => {
  test('RFC 9700 4.14.2: a refresh token is replaced, and an old one ends all that came of it', async () => {
    const { client: own, tokens } = await caller.connect('rotation@example.com')
    const second = await caller.refresh(own, tokens.refresh_token)
    expect(second.status).toBe(200)
    expect(second.body.refresh_token).not.toBe(tokens.refresh_token)
    // Within one minute, the same request of the same client gets the same response.
    const again = await caller.refresh(own, tokens.refresh_token)
    expect(again.body).toEqual(second.body)
    await stack.database.in('sandbox')`
      update oauth_records set expires_at = now() - interval '1 minute'
      where model = 'RefreshAnswer'`
    const late = await caller.refresh(own, tokens.refresh_token)
    expect([late.status, late.body.error]).toEqual([400, 'invalid_grant'])
    expect((await caller.refresh(own, second.body.refresh_token)).body.error).toBe('invalid_grant')
    expect((await caller.userinfo(second.body.access_token)).status).toBe(401)
  })

  test('RFC 6749 6: another client cannot use a refresh token, and gets no kept answer', async () => {
    const { client: own, tokens } = await caller.connect('thief@example.com')
    await caller.refresh(own, tokens.refresh_token)
    const stolen = await caller.refresh(client, tokens.refresh_token)
    expect([stolen.status, stolen.body.error]).toEqual([400, 'invalid_grant'])
  })

  test('RFC 6749 6: a refresh cannot widen the scope', async () => {
    const { client: own, tokens } = await caller.connect('scope@example.com', { scope: 'openid' })
    const wider = await caller.refresh(own, tokens.refresh_token, { scope: 'openid email' })
    expect(wider.body.error).toBe('invalid_scope')
  })

  test('RFC 7009 2.1: a client can revoke only its own tokens', async () => {
    const { client: own, tokens } = await caller.connect('revoke@example.com')
    const { client_id } = own
    const foreign = await caller.revoke({ client_id: client.client_id, token: tokens.access_token })
    expect(foreign.status).toBe(400)
    const nobody = await caller.revoke({ token: tokens.access_token })
    expect([nobody.status, nobody.body['error']]).toEqual([401, 'invalid_client'])
    expect((await caller.userinfo(tokens.access_token)).status).toBe(200)
    expect((await caller.revoke({ client_id, token: tokens.access_token })).status).toBe(200)
    expect((await caller.userinfo(tokens.access_token)).status).toBe(401)
    // The revocation also ended the refresh token of the same consent.
    expect((await caller.refresh(own, tokens.refresh_token)).status).toBe(400)
  })

  test('RFC 7009 2.2: an unknown token is no error', async () => {
    const { client_id } = client
    const { status, body } = await caller.revoke({ client_id, token: 'unknown' })
    expect([status, body['revoked']]).toEqual([200, true])
  })

  test('revokes a token that is sent in a multipart form', async () => {
    const { client: own, tokens } = await caller.connect('multipart@example.com')
    const form = new FormData()
    form.append('client_id', own.client_id)
    form.append('token', tokens.access_token)
    const path = '/v1/customer/auth/revoke'
    const answer = await caller.json<{ revoked: boolean }>(path, { method: 'POST', body: form })
    expect([answer.status, answer.body.revoked]).toEqual([200, true])
    expect((await caller.userinfo(tokens.access_token)).status).toBe(401)
  })
})

describe('the operations of the API', () => {
  test('register, authorize, get tokens, read and revoke at one address for all products', async () => {
    const registered = await caller.json<Client>(
      `/v1/customer/auth/register?product_ref=${world.productRef}`,
      {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ client_name: 'Bridge', redirect_uris: [redirectUri] }),
      },
    )
    expect(registered.status).toBe(201)
    const client = registered.body
    const { verifier, challenge } = drawPkce()
    const query = new URL(caller.authorizeUrl(client, challenge)).search
    const led = await stack.fetch(`/v1/customer/auth/authorize${query}`, { redirect: 'manual' })
    expect(led.status).toBe(302)
    expect(led.headers.get('location')).toBe(`${world.issuer}/oauth/authorize${query}`)
    const callback = await caller.authorize(client, 'bridge@example.com', { challenge })
    const form = {
      ...{ grant_type: 'authorization_code', code: callback.searchParams.get('code')! },
      ...{ redirect_uri: redirectUri, code_verifier: verifier },
      ...{ client_id: client.client_id, client_secret: client.client_secret! },
    }
    const post = <Body>(path: string, body: Record<string, string>) =>
      caller.json<Body>(path, { method: 'POST', body: new URLSearchParams(body) })
    const tokens = await post<{ access_token: string }>('/v1/customer/auth/token', form)
    expect(tokens.status).toBe(200)
    const authorization = `Bearer ${tokens.body.access_token}`
    const read = () =>
      caller.json<{ email: string }>('/v1/customer/auth/userinfo', { headers: { authorization } })
    expect((await read()).body.email).toBe('bridge@example.com')
    const { client_id, client_secret } = form
    const token = tokens.body.access_token
    const revoked = await post('/v1/customer/auth/revoke', { client_id, client_secret, token })
    expect(revoked.status).toBe(200)
    expect((await read()).status).toBe(401)
  })

  test('refuse a product without an MCP server, and an unknown client', async () => {
    const registered = await caller.json<{ error: string }>(
      '/v1/customer/auth/register?product_ref=prd_UNKNOWN',
      { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' },
    )
    expect([registered.status, registered.body.error]).toEqual([400, 'invalid_request'])
    const authorized = await caller.json<{ error: string }>(
      '/v1/customer/auth/authorize?client_id=x',
    )
    expect([authorized.status, authorized.body.error]).toEqual([400, 'invalid_client'])
  })
})

describe('a client of an agent', () => {
  test('gets tokens for its customer with its secret, until the customer is deleted', async () => {
    const [given, other] = [{ email: 'agents@example.com' }, { email: 'agents@other.example' }]
    const { body: customer } = await stack.call<CustomerBody>(
      ...([world.key, 'POST', '/v1/sdk/customers', given] as const),
    )
    const sent = { customerRef: customer.reference, productRef: world.productRef, name: 'Nightly' }
    const { status, body } = await stack.call<{ clientId: string; clientSecret: string }>(
      ...([world.key, 'POST', '/v1/customer/auth/clients', sent] as const),
    )
    expect(status).toBe(201)
    const credentials = Buffer.from(`${body.clientId}:${body.clientSecret}`).toString('base64')
    const get = () =>
      caller.token(
        { grant_type: 'client_credentials', resource: world.proxyUrl },
        { authorization: `Basic ${credentials}` },
      )
    const { body: tokens } = await get()
    expect(decodeJwt(tokens.access_token)).toMatchObject({
      ...{ sub: customer.reference, customerRef: customer.reference, aud: world.proxyUrl },
    })
    expect(tokens).not.toHaveProperty('refresh_token')
    const { reference } = customer
    await stack.call(world.key, 'PATCH', `/v1/sdk/customers/${reference}`, other)
    expect((await caller.userinfo(tokens.access_token)).body['sub']).toBe(reference)
    await stack.call(world.key, 'DELETE', `/v1/ui/customers/${reference}?settle=write_off`)
    expect((await caller.userinfo(tokens.access_token)).status).toBe(401)
    expect((await get()).body.error).toBe('invalid_client')
  })
})

describe('keys', () => {
  test('are replaced with an overlap in which tokens of both are accepted', async () => {
    const own = new Caller(stack, await createWorld(stack))
    const { tokens } = await own.connect('keys@example.com')
    const pool = stack.database.in('sandbox')
    const { providerId } = own.world.tenant
    await pool`
      update oauth_signing_keys set active_from = active_from - interval '91 days'
      where provider_id = ${providerId}`
    const kidsOf = async () =>
      (await own.json<{ keys: { kid: string }[] }>(`${own.base}/jwks`)).body.keys.map(
        ({ kid }) => kid,
      )
    await expect.poll(kidsOf, { timeout: 15_000, interval: 500 }).toHaveLength(2)
    const signedBy = async () =>
      decodeProtectedHeader((await own.connect('keys@example.com')).tokens.access_token).kid
    const first = decodeProtectedHeader(tokens.access_token).kid
    // The new key is published, but does not sign yet.
    expect(await signedBy()).toBe(first)
    await pool`
      update oauth_signing_keys set active_from = active_from - interval '11 minutes'
      where provider_id = ${providerId}`
    await expect.poll(signedBy, { timeout: 15_000, interval: 1_000 }).not.toBe(first)
    expect((await own.userinfo(tokens.access_token)).status).toBe(200)
  }, 60_000)
})

test('`sign-ins end-all` ends every token, and clients sign in again', async () => {
  const { client: own, tokens } = await caller.connect('restored@example.com')
  const shown: unknown[] = []
  const output = { show: ({ json }: { json: unknown }) => shown.push(json), print: () => undefined }
  const parts = { database: stack.database, output, actorOf: cliActor }
  await endSignInsCommand(parts as unknown as CliParts)
  const entries = await stack.database.in('sandbox')`
    select 1 from audit_log where kind = 'oauth_signing_keys' and actor like 'cli:%'`
  expect(entries).not.toHaveLength(0)
  const ended = { environment: 'sandbox', keys: expect.any(Number) as number }
  expect(shown).toEqual([expect.arrayContaining([expect.objectContaining(ended)])])
  expect((await caller.refresh(own, tokens.refresh_token)).body.error).toBe('invalid_grant')
  const alive = async () => (await caller.userinfo(tokens.access_token)).status
  await expect.poll(alive, { timeout: 15_000, interval: 500 }).toBe(401)
  const { challenge } = drawPkce()
  const callback = await caller.authorize(own, 'restored@example.com', { challenge })
  expect(callback.searchParams.get('code')).toBeTruthy()
})

test('rejects clients, codes and tokens of the previous MCP server at a reassigned subdomain', async () => {
  const sql = stack.database.in('sandbox')
  const before = new Caller(stack, await createWorld(stack))
  const { client, tokens } = await before.connect('moved@example.com')
  const pkce = drawPkce()
  const callback = await before.authorize(client, 'moved@example.com', pkce)
  const code = callback.searchParams.get('code')!
  const { productRef, subdomain, tenant } = before.world
  const revoked = () =>
    sql`select from oauth_revoked_tokens where jti = ${decodeJwt(tokens.access_token).jti!}`
  await stack.call(before.world.key, 'DELETE', `/v1/sdk/products/${productRef}`)
  expect((await before.refresh(client, tokens.refresh_token)).status).toBe(404)
  // The proxy needs this row, because it reads no other table of tokens.
  expect(await revoked()).toHaveLength(1)
  // No product gets a former subdomain by itself, so the owner of the database assigns it: first to another provider.
  for (const given of [{}, { tenant }]) {
    const world = await createWorld(stack, given)
    expect(world.subdomain).not.toBe(subdomain)
    await sql`
      update mcp_servers set subdomain = 'former-' || left(md5(reference), 8)
      where subdomain = ${subdomain}`
    await sql`
      update mcp_servers set subdomain = ${subdomain} where product_ref = ${world.productRef}`
    expect((await before.register()).status).toBe(201)
    expect((await before.refresh(client, tokens.refresh_token)).body.error).toBe('invalid_client')
    expect((await before.redeem(client, code, pkce.verifier)).body.error).toBe('invalid_client')
    const started = await new Browser(stack).open(before.authorizeUrl(client, pkce.challenge))
    expect([started.status, started.location]).toEqual([400, undefined])
    const { status } = await before.userinfo(tokens.access_token)
    expect(status).toBe(401)
  }
})

describe('a client that publishes its metadata', () => {
  test('is counted as a registration until its document is stored', async () => {
    const open = (client_id: string) => {
      const client = { client_id, token_endpoint_auth_method: 'none' }
      return new Browser(stack).open(caller.authorizeUrl(client, drawPkce().challenge))
    }
    await open('https://10.0.0.1/first.json')
    const sql = stack.database.in('sandbox')
    await sql`update customer_auth_attempts set attempts = 1000 where kind = 'register-address'`
    expect((await open('https://10.0.0.1/second.json')).status).toBe(429)
    await sql`delete from customer_auth_attempts where kind = 'register-address'`
  })

  const clientId = 'https://assistant.example/client.json'

  /** Creates the issuers of the stack with a different fetch: `answer` returns the response of the client's address. */
  async function startIssuer(answer: () => Promise<Response>) {
    const own = await createWorld(stack)
    const issuers = new Issuers({
      database: stack.database,
      publisher: {
        ...{ database: stack.database, hotState: stack.hotState, partitionCount: () => 1 },
        now: () => new Date(),
      },
      secrets: new SecretBox([{ id: 'test', bytes: Buffer.alloc(32, 1) }]),
      clock: stack.clock,
      outbound: { of: () => ({ fetch: () => answer() }) as unknown as GuardedHttp },
      logger: createLogger('control-plane', 'silent'),
      mcpProxyUrls: { sandbox: template, live: liveTemplate },
      hostedUrl: hosted,
      config: readSettings(customerAuthSettings, {}),
      problemPage: (_language, problem) => ({ html: JSON.stringify(problem), headers: {} }),
    })
    const issuer = (await issuers.findOfProduct(own.productRef))!
    const url = new URL(
      new Caller(stack, own).authorizeUrl(
        { client_id: clientId, token_endpoint_auth_method: 'none' },
        drawPkce().challenge,
      ),
    )
    return { issuer, start: () => authorize(issuer, url.searchParams, { accept: 'text/html' }) }
  }

  const document = {
    client_id: clientId,
    client_name: 'Assistant',
    redirect_uris: ['http://127.0.0.1/callback'],
    scope: 'openid mcp:tools',
  }

  test('is known by its document, with any port of its loopback redirect', async () => {
    const { start } = await startIssuer(() => Promise.resolve(Response.json(document)))
    const { status, headers } = await start()
    expect([status, headers['location']]).toEqual([
      303,
      expect.stringContaining(`${hosted}/customer/authorize/`),
    ])
  })

  test.each([
    ['names another id', () => Response.json({ ...document, client_id: 'https://other.example/' })],
    ['holds a secret', () => Response.json({ ...document, client_secret: 'secret' })],
    [
      'leads to a host that is not allowed',
      () => Response.json({ ...document, redirect_uris: ['https://evil.example/cb'] }),
    ],
    ['is longer than 5 KB', () => Response.json({ ...document, more: 'x'.repeat(6_000) })],
    ['is missing', () => new Response('', { status: 404 })],
    ['is elsewhere', () => new Response('', { status: 302, headers: { location: clientId } })],
    ['is no JSON', () => new Response('<html>')],
  ])('is refused if its document %s', async (_, answer) => {
    const { start } = await startIssuer(() => Promise.resolve(answer()))
    expect((await start()).status).toBe(400)
  })

  test('keeps its users signed in while its server is down, and gets no new ones', async () => {
    let isAway = false
    const { issuer } = await startIssuer(() =>
      isAway ? Promise.reject(new Error('away')) : Promise.resolve(Response.json(document)),
    )
    let mayBeStale = false
    const fetchDocument = createDocumentFetch({
      store: issuer.store,
      policy: { hosts: [], schemes: [], isAnyHttpsAllowed: false },
      fetch: () =>
        isAway ? Promise.reject(new Error('away')) : Promise.resolve(Response.json(document)),
      mayBeStale: () => mayBeStale,
    })
    expect((await fetchDocument(clientId)).status).toBe(200)
    isAway = true
    await expect(fetchDocument(clientId)).rejects.toThrow('away')
    mayBeStale = true
    expect(await (await fetchDocument(clientId)).json()).toMatchObject({ client_id: clientId })
    // Any client may call the token endpoint under any name.
    isAway = false
    const unknown = `${clientId}?unknown`
    expect((await fetchDocument(unknown)).status).toBe(200)
    expect(await isDocumentStored(issuer.store, unknown)).toBe(false)
  })

  test('is refused if its address is not public, or not https', async () => {
    const server = createServer((_request, response) => {
      response.end('{}')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    for (const client_id of [
      `https://127.0.0.1:${port}/client.json`,
      `http://127.0.0.1:${port}/client.json`,
      'https://10.0.0.1/client.json',
    ]) {
      const url = caller.authorizeUrl(
        { client_id, token_endpoint_auth_method: 'none' },
        drawPkce().challenge,
      )
      const page = await new Browser(stack).open(url)
      expect([client_id, page.status, page.location]).toEqual([client_id, 400, undefined])
    }
    server.close()
  })
})
