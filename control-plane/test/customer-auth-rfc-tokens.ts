import { SignJWT, decodeJwt, generateKeyPair } from 'jose'
import { describe, expect, test } from 'vitest'
import type { RfcWorld } from './customer-auth-rfc-world.ts'
import { errorText } from './customer-auth-rfc-requests.ts'
import { drawPkce, redirectUri } from './customer-auth-world.ts'

const elsewhere = 'https://elsewhere.example/mcp'

/** Tests of the rules for the token, revocation and userinfo endpoints. */
export function tokenRules(given: () => RfcWorld): void {
  const basic = (id: string, secret: string) => ({
    authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`,
  })
  const withSecret = async () =>
    (await given().caller.register({ token_endpoint_auth_method: undefined })).body

  describe('requests to the token endpoint', () => {
    test.each(['grant_type', 'code', 'redirect_uri', 'code_verifier', 'client_id'])(
      'RFC 6749 3.2: %s that is given twice is refused, and the code stays good',
      async (name) => {
        const { code, verifier } = await given().newCode()
        const pairs = Object.entries({
          ...{ grant_type: 'authorization_code', client_id: given().client.client_id },
          ...{ code, code_verifier: verifier, redirect_uri: redirectUri },
        })
        const twice = pairs.filter(([each]) => each === name)
        const refused = await given().post('token', [...pairs, ...twice])
        expect([refused.status, refused.body['error']]).toEqual([400, 'invalid_request'])
        expect((await given().post('token', [...pairs, ['unheard_of', '1']])).status).toBe(200)
      },
    )

    test('RFC 6749 3.2 and 2.3.1: GET and parameters in the address are refused', async () => {
      const { code, verifier } = await given().newCode()
      const query = new URLSearchParams({
        ...{ grant_type: 'authorization_code', client_id: given().client.client_id },
        ...{ code, code_verifier: verifier, redirect_uri: redirectUri },
      })
      const path = `${given().caller.base}/token?${query.toString()}`
      expect((await given().caller.json(path)).status).toBe(404)
      const headers = { 'content-type': 'application/x-www-form-urlencoded' }
      const posted = await given().caller.json(path, { method: 'POST', headers })
      expect(posted.status).toBe(400)
    })

    test.each(['token', 'revoke'])(
      'RFC 6749 2.3: two ways to name the client at once are refused by %s',
      async (endpoint) => {
        const { client_id, client_secret = '' } = await withSecret()
        const form: [string, string][] = [
          ...([['grant_type', 'client_credentials']] as [string, string][]),
          ...([['client_id', client_id]] as [string, string][]),
          ...([['client_secret', client_secret]] as [string, string][]),
          ['token', 'unknown'],
        ]
        const answer = await given().post(endpoint, form, basic(client_id, client_secret))
        expect([answer.status, answer.body['error']]).toEqual([400, 'invalid_request'])
      },
    )

    test('RFC 6749 3.2.1: a client with a secret is refused without it, for codes and refreshes', async () => {
      const client = await withSecret()
      const { code, verifier } = await given().newCode({}, client)
      const bare = { client_id: client.client_id, token_endpoint_auth_method: 'none' }
      const refused = await given().caller.redeem(bare, code, verifier)
      expect([refused.status, refused.body.error]).toEqual([401, 'invalid_client'])
      const { body: tokens } = await given().caller.redeem(client, code, verifier)
      const proof = { client_secret: client.client_secret! }
      const { refresh_token } = tokens
      expect((await given().caller.refresh(bare, refresh_token)).body.error).toBe('invalid_client')
      expect((await given().caller.refresh(client, refresh_token, proof)).status).toBe(200)
      // Only the same client gets the response that is stored for a repeated request.
      const replay = await given().caller.refresh(bare, refresh_token)
      expect([replay.status, replay.body.error]).toEqual([401, 'invalid_client'])
    })

    test('RFC 6749 4.1.2: a code expires in a minute', async () => {
      const { code, verifier } = await given().newCode()
      const sql = given().stack.database.in('sandbox')
      const rows = await sql<{ lasts: number }[]>`
        update oauth_records set expires_at = now()
        where model = 'AuthorizationCode' and consumed_at is null
        returning extract(epoch from expires_at - created_at)::int as lasts`
      expect(rows.length).toBeGreaterThan(0)
      const late = await given().caller.redeem(given().client, code, verifier)
      expect([late.status, late.body.error]).toEqual([400, 'invalid_grant'])
    })

    test.each([
      ['RFC 7636 4.1: a verifier that is too short', 'a'.repeat(42)],
      ['RFC 7636 4.1: a verifier that is too long', 'a'.repeat(129)],
      ['RFC 7636 4.1: a verifier with other characters', `${'a'.repeat(43)}+`],
    ])('%s is refused', async (_, code_verifier) => {
      const { code, verifier } = await given().newCode()
      const { client, caller } = given()
      const { status } = await caller.redeem(client, code, verifier, { code_verifier })
      expect(status).toBe(400)
    })
  })

  describe('answers of the token endpoint', () => {
    test.each([
      ['none', ''],
      ['unknown ones', 'mcp:tools admin'],
    ])(
      'RFC 6749 5.1: are JSON that no cache keeps, and 3.3: tell the default scope of a client that named %s',
      async (_, scope) => {
        const { code, verifier } = await given().newCode({ scope })
        const { caller, client } = given()
        const { headers, body } = await caller.redeem(client, code, verifier)
        expect(headers.get('content-type')).toMatch(/^application\/json/)
        const caching = [headers.get('cache-control'), headers.get('pragma')]
        expect(caching).toEqual(['no-store', 'no-cache'])
        expect([body.scope, body.expires_in]).toEqual(['openid', 900])
        const known = await caller.userinfo(body.access_token)
        expect(Object.keys(known.body).sort()).toEqual(['customerRef', 'sub'])
      },
    )

    test('RFC 6749 10.10 and 10.4: codes and tokens cannot be guessed, and are stored nowhere as they are', async () => {
      const { code, verifier } = await given().newCode()
      const { body } = await given().caller.redeem(given().client, code, verifier)
      // 43 characters contain 256 bits.
      expect(code).toMatch(/^[\w-]{43,}$/)
      expect(body.refresh_token).toMatch(/^[\w-]{43,}$/)
      const sql = given().stack.database.in('sandbox')
      const rows = await sql`select * from oauth_records, oauth_access_tokens`
      const stored = JSON.stringify(rows)
      for (const secret of [code, body.refresh_token, body.access_token]) {
        expect(stored).not.toContain(secret)
      }
    })

    test('RFC 6749 5.2: what an error says has no characters that are not allowed', async () => {
      const forms: Record<string, string>[] = [
        { grant_type: 'pass"wörd\\' },
        { grant_type: 'refresh_token', refresh_token: 'é"' },
        { grant_type: 'authorization_code', code: 'é"' },
        { grant_type: 'client_credentials', resource: 'https://é.example/"' },
      ]
      for (const form of forms) {
        const { client_id } = given().client
        const { status, body } = await given().caller.token({ client_id, ...form })
        expect(status).toBe(400)
        expect(body.error).toMatch(errorText)
        expect(body.error_description).toMatch(errorText)
      }
    })
  })

  describe('refreshing', () => {
    test('RFC 6749 6: a refresh with a part of the scope leaves the refresh token the whole', async () => {
      const tokens = await given().newTokens()
      const { client, caller } = given()
      const narrow = await caller.refresh(client, tokens.refresh_token, { scope: 'openid' })
      expect(narrow.body.scope).toBe('openid')
      const whole = await caller.refresh(client, narrow.body.refresh_token)
      expect(whole.body.scope).toBe('openid profile email')
    })

    test('RFC 8707 2.2 and RFC 9700 4.14.2: a refresh is for the resource that was allowed', async () => {
      const tokens = await given().newTokens()
      const { client, caller } = given()
      const other = await caller.refresh(client, tokens.refresh_token, { resource: elsewhere })
      expect([other.status, other.body.error]).toEqual([400, 'invalid_target'])
      expect((await caller.refresh(client, tokens.refresh_token)).status).toBe(200)
    })
  })

  describe('revocation', () => {
    test.each(['access_token', 'refresh_token', 'unheard_of'])(
      'RFC 7009 2.1: the hint %s limits no search, and the end of a refresh token ends its access tokens',
      async (token_type_hint) => {
        const tokens = await given().newTokens()
        const { client, caller } = given()
        const form = { client_id: client.client_id, token: tokens.refresh_token, token_type_hint }
        expect((await caller.revoke(form)).status).toBe(200)
        expect((await caller.refresh(client, tokens.refresh_token)).body.error).toBe(
          'invalid_grant',
        )
        expect((await caller.userinfo(tokens.access_token)).status).toBe(401)
      },
    )

    test.each([
      ['RFC 7009 2.1: a request without a token', [] as string[]],
      ['RFC 6749 3.2: a request with two tokens', ['one', 'two']],
    ])('%s is refused', async (_, tokens) => {
      const pairs = tokens.map((each): [string, string] => ['token', each])
      const { client_id } = given().client
      const answer = await given().post('revoke', [['client_id', client_id], ...pairs])
      expect([answer.status, answer.body['error']]).toEqual([400, 'invalid_request'])
    })

    test('RFC 7009 2: only POST revokes', async () => {
      const { access_token } = await given().newTokens()
      const query = new URLSearchParams({
        ...{ token: access_token, client_id: given().client.client_id },
      })
      const { caller } = given()
      expect((await caller.json(`${caller.base}/revoke?${query.toString()}`)).status).toBe(404)
      expect((await caller.userinfo(access_token)).status).toBe(200)
    })
  })

  describe('tokens at the userinfo endpoint', () => {
    test('RFC 6750 3: every challenge has a parameter, and one for a bad token names the error', async () => {
      const { caller } = given()
      const bare = await caller.json(`${caller.base}/userinfo`)
      expect(bare.headers.get('www-authenticate')).toBe('Bearer realm="customers"')
      const bad = await caller.userinfo('unknown')
      expect(bad.status).toBe(401)
      expect(bad.headers.get('www-authenticate')).toMatch(
        /^Bearer error="invalid_token", error_description="[\x20-\x21\x23-\x5b\x5d-\x7e]+"$/,
      )
    })

    test('RFC 6750 2.3 and 5.3: a token in the address is not looked at', async () => {
      const { access_token } = await given().newTokens()
      const { caller } = given()
      const path = `${caller.base}/userinfo?access_token=${access_token}`
      expect((await caller.json(path)).status).toBe(401)
    })

    test('RFC 6750 3.1: a token that has expired is refused', async () => {
      const { access_token } = await given().newTokens()
      const { caller, stack } = given()
      stack.clock.set(new Date(Date.now() + 16 * 60_000).toISOString())
      try {
        expect((await caller.userinfo(access_token)).status).toBe(401)
      } finally {
        stack.clock.set()
      }
    })
  })

  describe('tokens that are not what they say', () => {
    test.each([
      ['a token of another key', { alg: 'ES256' }],
      ['RFC 8725 3.1: a token without a signature', { alg: 'none' }],
    ])('%s is refused', async (_, { alg }) => {
      const tokens = await given().newTokens()
      const payload = decodeJwt(tokens.access_token)
      const { privateKey } = await generateKeyPair('ES256')
      const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')
      const forged =
        alg === 'none'
          ? `${encode({ alg: 'none', typ: 'at+jwt' })}.${encode(payload)}.`
          : await new SignJWT(payload).setProtectedHeader({ alg, typ: 'at+jwt' }).sign(privateKey)
      expect((await given().caller.userinfo(forged)).status).toBe(401)
    })

    test('tells no more than the scopes allow', async () => {
      const tokens = await given().newTokens({ scope: 'openid' })
      const { body } = await given().caller.userinfo(tokens.access_token)
      expect(Object.keys(body).sort()).toEqual(['customerRef', 'sub'])
    })
  })

  test('RFC 7636 4.6: a code of a challenge is refused with the challenge as its verifier', async () => {
    const { verifier, challenge } = drawPkce()
    const { code } = await given().codeFor(given().client, { verifier, challenge })
    const refused = await given().caller.redeem(given().client, code, challenge)
    expect(refused.body.error).toBe('invalid_grant')
  })
}
