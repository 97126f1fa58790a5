import { setTimeout } from 'node:timers/promises'
import { decodeJwt } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { clientRules } from './customer-auth-rfc-clients.ts'
import { requestRules } from './customer-auth-rfc-requests.ts'
import { tokenRules } from './customer-auth-rfc-tokens.ts'
import { RfcWorld } from './customer-auth-rfc-world.ts'
import {
  drawPkce,
  redirectUri,
  type Caller,
  type Client,
  type World,
} from './customer-auth-world.ts'

/* One test for each rule of an RFC that an authorization server must follow. docs/oauth-conformance.md lists them. */

let rfc: RfcWorld
let world: World
let caller: Caller
let client: Client

beforeAll(async () => {
  rfc = await RfcWorld.start()
  ;({ world, caller, client } = rfc)
})
afterAll(() => rfc.stack.stop())

const authorizeWith: RfcWorld['authorizeWith'] = (...given) => rfc.authorizeWith(...given)
const newCode: RfcWorld['newCode'] = (...given) => rfc.newCode(...given)

requestRules(() => rfc)
tokenRules(() => rfc)
clientRules(() => rfc)

describe('the request for a code', () => {
  test.each([
    [
      'RFC 6749 4.1.2.1: a request without response_type',
      { response_type: undefined },
      'invalid_request',
    ],
    [
      'RFC 6749 4.1.2.1: another response type',
      { response_type: 'token' },
      'unsupported_response_type',
    ],
    [
      'RFC 7636 4.4.1: a request without a challenge',
      { code_challenge: undefined, code_challenge_method: undefined },
      'invalid_request',
    ],
    ['RFC 9700 2.1.1: the method `plain`', { code_challenge_method: 'plain' }, 'invalid_request'],
    [
      'RFC 8707 2: a resource of another server',
      { resource: 'https://elsewhere.example/mcp' },
      'invalid_target',
    ],
    ['RFC 8707 2: a resource that is no absolute URI', { resource: '/mcp' }, 'invalid_target'],
  ])(
    '%s is refused at the client, with its state and issuer (RFC 9207 2)',
    async (_, change, error) => {
      const { answer } = await authorizeWith(change)
      expect(answer).toMatchObject({ error, iss: world.issuer, state: 'st4te' })
    },
  )

  test.each([
    ['RFC 6749 4.1.2.1: an unknown client', { client_id: 'unknown' }],
    [
      'RFC 6749 4.1.2.1: a redirect URI that is not registered',
      { redirect_uri: 'http://127.0.0.1:5555/other' },
    ],
    ['RFC 9700 2.1: a redirect URI with an added query', { redirect_uri: `${redirectUri}?more=1` }],
    ['RFC 9700 2.1: another host', { redirect_uri: 'https://evil.example/callback' }],
  ])('%s is shown on an error page, and never redirected', async (_, change) => {
    const { page } = await authorizeWith(change)
    expect([page.status, page.location]).toEqual([400, undefined])
    expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
  })

  test('RFC 8252 7.3: a loopback redirect URI may have any port', async () => {
    const other = 'http://127.0.0.1:61234/callback'
    const { page } = await authorizeWith({ redirect_uri: other })
    expect(page.location).toContain('/customer/authorize/')
  })

  test('RFC 9207 2: the answer names the issuer, and RFC 6749 4.1.2 the state', async () => {
    const { callback } = await newCode()
    const { iss, state } = Object.fromEntries(callback.searchParams)
    expect({ iss, state }).toEqual({ iss: world.issuer, state: 'st4te' })
  })

  test('RFC 6749 3.3: unknown scopes are left out', async () => {
    const { code, verifier } = await newCode({ scope: 'openid admin' })
    expect((await caller.redeem(client, code, verifier)).body.scope).toBe('openid')
  })
})

describe('redeeming a code', () => {
  test('RFC 6749 4.1.2: a code is redeemed once, and its second use revokes the tokens of the first', async () => {
    const { code, verifier } = await newCode()
    const first = await caller.redeem(client, code, verifier)
    expect(first.status).toBe(200)
    const second = await caller.redeem(client, code, verifier)
    expect([second.status, second.body.error]).toEqual([400, 'invalid_grant'])
    expect((await caller.userinfo(first.body.access_token)).status).toBe(401)
  })

  test('issues tokens to only one of several concurrent requests that redeem a code', async () => {
    const { code, verifier } = await newCode()
    const answers = await Promise.all([1, 2, 3].map(() => caller.redeem(client, code, verifier)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400])
  })

  test('concurrent refreshes get the same successor', async () => {
    const { client: own, tokens } = await caller.connect('race@example.com')
    let newest = tokens.refresh_token
    for (let run = 0; run < 12; run += 1) {
      // Some start while others are committed.
      const refresh = async (nth: number) => {
        await setTimeout(nth * run)
        return caller.refresh(own, newest)
      }
      const answers = await Promise.all([0, 1, 2, 3].map(refresh))
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
      expect(new Set(answers.map(({ body }) => body.refresh_token)).size).toBe(1)
      newest = answers[0]!.body.refresh_token
    }
  })

  test.each([
    ['RFC 7636 4.6: another verifier', { code_verifier: drawPkce().verifier }],
    ['RFC 6749 4.1.3: another redirect URI', { redirect_uri: 'http://127.0.0.1:5556/callback' }],
  ])('%s is refused', async (_, change) => {
    const { code, verifier } = await newCode()
    const { status, body } = await caller.redeem(client, code, verifier, change)
    expect([status, body.error]).toEqual([400, 'invalid_grant'])
  })

  test('RFC 7636 4.5: a request without a verifier is refused', async () => {
    const { code } = await newCode()
    const { body } = await caller.token({
      ...{ grant_type: 'authorization_code', client_id: client.client_id },
      ...{ code, redirect_uri: redirectUri },
    })
    expect(body.error).toBe('invalid_grant')
  })

  test('RFC 6749 4.1.3: the code of one client is refused to another', async () => {
    const { code, verifier } = await newCode()
    const other = (await caller.register()).body
    expect((await caller.redeem(other, code, verifier)).body.error).toBe('invalid_grant')
  })

  test('RFC 6749 5.1: a token response must not be cached', async () => {
    const { code, verifier } = await newCode()
    const { headers, body } = await caller.redeem(client, code, verifier)
    expect(headers.get('cache-control')).toContain('no-store')
    expect(body.token_type).toBe('Bearer')
  })

  test.each([
    ['RFC 6749 5.2: an unknown grant', { grant_type: 'password' }, 400, 'unsupported_grant_type'],
    ['RFC 6749 5.2: a request without a grant', {}, 400, 'invalid_request'],
    [
      'RFC 6749 5.2: an unknown client',
      { grant_type: 'refresh_token', client_id: 'unknown', refresh_token: 'x' },
      401,
      'invalid_client',
    ],
    [
      'RFC 6749 5.2: a grant that the client did not register',
      { grant_type: 'client_credentials' },
      400,
      'unauthorized_client',
    ],
  ])('%s is refused', async (_, form, status, error) => {
    const answer = await caller.token({ client_id: client.client_id, ...form })
    expect([answer.status, answer.body.error]).toEqual([status, error])
  })

  test('RFC 6749 3.2: parameters in JSON are refused', async () => {
    const answer = await caller.json<{ error: string }>(`${caller.base}/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ grant_type: 'refresh_token' }),
    })
    expect([answer.status, answer.body.error]).toEqual([400, 'invalid_request'])
  })

  test.each(['', '/'])(
    'RFC 8707 2.2: the resource ending in "%s" gives the one audience',
    async (end) => {
      const { code, verifier } = await newCode({ resource: world.proxyUrl + end })
      const more = { resource: `${world.proxyUrl}/` }
      const { body } = await caller.redeem(client, code, verifier, more)
      expect(decodeJwt(body.access_token).aud).toBe(world.proxyUrl)
    },
  )

  test('RFC 8707 2.2: another resource at the token endpoint is refused', async () => {
    const { code, verifier } = await newCode()
    const more = { resource: 'https://elsewhere.example/mcp' }
    expect((await caller.redeem(client, code, verifier, more)).body.error).toBe('invalid_target')
  })

  test('issues a token for the MCP server if the request names no resource', async () => {
    const url = new URL(caller.authorizeUrl(client, ''))
    expect(url.searchParams.get('resource')).toBe(world.proxyUrl)
    const { code, verifier } = await newCode({ resource: '' })
    const { body } = await caller.redeem(client, code, verifier)
    expect(decodeJwt(body.access_token).aud).toBe(world.proxyUrl)
  })
})

describe('clients with a secret', () => {
  test.each(['client_secret_basic', 'client_secret_post'])(
    'RFC 6749 2.3.1: %s takes the secret in the header and in the form, and no other secret',
    async (token_endpoint_auth_method) => {
      const { body: confidential } = await caller.register({ token_endpoint_auth_method })
      const secret = confidential.client_secret!
      const send = async (how: 'form' | 'header', given: string) => {
        const { code, verifier } = await newCode({}, confidential)
        const form = {
          ...{ grant_type: 'authorization_code', code, code_verifier: verifier },
          redirect_uri: redirectUri,
        }
        const credentials = Buffer.from(`${confidential.client_id}:${given}`).toString('base64')
        return how === 'form'
          ? caller.token({ ...form, client_id: confidential.client_id, client_secret: given })
          : caller.token(form, { authorization: `Basic ${credentials}` })
      }
      expect((await send('form', secret)).status).toBe(200)
      expect((await send('header', secret)).status).toBe(200)
      const wrong = await send('header', `${secret}x`)
      expect([wrong.status, wrong.body.error]).toEqual([401, 'invalid_client'])
      expect(wrong.headers.get('www-authenticate')).toMatch(/^Basic/)
    },
  )

  test('RFC 7591 3.2.1: a client without a method of authentication gets a secret', async () => {
    const { status, body } = await caller.register({ token_endpoint_auth_method: undefined })
    expect(status).toBe(201)
    expect(body).toMatchObject({ token_endpoint_auth_method: 'client_secret_basic' })
    expect(body.client_secret).toMatch(/.{40}/)
  })
})

describe('registration', () => {
  const accepted = (uri: string) => [`accepts ${uri}`, uri] as const
  test.each([
    accepted('http://localhost:9999/cb'),
    accepted('http://[::1]/cb'),
    accepted('cursor://anysphere.cursor-mcp/oauth/callback'),
    accepted('https://claude.ai/api/mcp/auth_callback'),
    accepted('https://insiders.vscode.dev/redirect'),
  ])('RFC 7591 2: %s', async (_, uri) => {
    const { status } = await caller.register({ redirect_uris: [uri], application_type: 'web' })
    expect(status).toBe(201)
  })

  test.each([
    'https://evil.example/cb',
    'https://claude.ai.evil.example/cb',
    'http://evil.example/cb',
    'javascript:alert(1)',
    'https://user@claude.ai/cb',
    'https://claude.ai/cb#fragment',
    // The semicolon would end a directive of the consent page's security policy.
    'https://x;sandbox.claude.ai/cb',
    'not a url',
  ])('RFC 7591 3.2.2: refuses %s, and names it', async (uri) => {
    const { status, body } = await caller.register({ redirect_uris: [redirectUri, uri] })
    expect([status, body.error]).toEqual([400, 'invalid_redirect_uri'])
    expect(body.error_description).toContain(uri)
  })

  test('takes the body that Cursor sends', async () => {
    const { status, body } = await caller.register({
      redirect_uris: [
        'cursor://anysphere.cursor-mcp/oauth/callback',
        'https://www.cursor.com/agents/mcp/oauth/callback',
        'http://localhost:8787/callback',
      ],
      application_type: 'web',
      scope: 'mcp:tools openid',
    })
    expect([status, body.error_description]).toEqual([201, undefined])
  })

  test('fetches no address that a client names', async () => {
    const sector_identifier_uri = 'https://127.0.0.1:9/sector.json'
    const { status, body } = await caller.register({ sector_identifier_uri })
    expect([status, body.error_description]).toEqual([201, undefined])
  })

  test('RFC 7591 2: no client registers itself for a customer', async () => {
    const { body } = await caller.register({
      grant_types: ['client_credentials'],
      tollgate_customer_ref: 'cus_other',
    })
    expect(body.error).toBe('invalid_client_metadata')
    const registered = await caller.register({ tollgate_customer_ref: 'cus_other' })
    expect(registered.body).not.toHaveProperty('tollgate_customer_ref')
  })
})

describe('metadata', () => {
  test('RFC 8414 2 and 3: names the issuer and endpoints below it', async () => {
    const path = `${caller.base}/.well-known/oauth-authorization-server`
    const { status, headers, body } = await caller.json<Record<string, unknown>>(path)
    const at = (end: string) => `${world.issuer}/oauth/${end}`
    expect(status).toBe(200)
    expect(headers.get('content-type')).toMatch(/^application\/json/)
    expect(body).toMatchObject({
      issuer: world.issuer,
      authorization_endpoint: at('authorize'),
      token_endpoint: at('token'),
      registration_endpoint: at('register'),
      revocation_endpoint: at('revoke'),
      userinfo_endpoint: at('userinfo'),
      jwks_uri: at('jwks'),
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post'],
      client_id_metadata_document_supported: true,
      authorization_response_iss_parameter_supported: true,
      scopes_supported: ['openid', 'profile', 'email'],
    })
    expect((body['grant_types_supported'] as string[]).sort()).toEqual(
      ['authorization_code', 'client_credentials', 'refresh_token'].sort(),
    )
    const openid = await caller.json(`${caller.base}/.well-known/openid-configuration`)
    expect(openid.status).toBe(404)
  })

  test('RFC 7517 5: the key set contains the signing key, without its private part', async () => {
    const { body } = await caller.json<{ keys: Record<string, string>[] }>(`${caller.base}/jwks`)
    expect(body.keys).toHaveLength(1)
    expect(body.keys[0]).toMatchObject({ kty: 'EC', crv: 'P-256', use: 'sig', alg: 'ES256' })
    expect(body.keys[0]).not.toHaveProperty('d')
  })
})
