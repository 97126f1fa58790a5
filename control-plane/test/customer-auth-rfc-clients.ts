import { describe, expect, test } from 'vitest'
import type { RfcWorld } from './customer-auth-rfc-world.ts'
import { errorText } from './customer-auth-rfc-requests.ts'
import { redirectUri } from './customer-auth-world.ts'

/** Tests of the rules for registration and metadata. */
export function clientRules(given: () => RfcWorld): void {
  describe('answers to registrations', () => {
    test('RFC 7591 3.2.1: have all that is registered, and no cache keeps them', async () => {
      const { status, headers, body } = await given().caller.register({
        token_endpoint_auth_method: 'client_secret_post',
        client_uri: 'https://client.example/',
      })
      expect(status).toBe(201)
      expect(headers.get('content-type')).toMatch(/^application\/json/)
      expect([headers.get('cache-control'), headers.get('pragma')]).toEqual([
        'no-store',
        'no-cache',
      ])
      expect(body).toMatchObject({
        client_name: 'Test client',
        client_uri: 'https://client.example/',
        client_secret_expires_at: 0,
        client_id_issued_at: expect.any(Number) as number,
        redirect_uris: [redirectUri],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: 'client_secret_post',
      })
    })

    test('RFC 7591 3.2.1 and 5: each registration gets an id and a secret of its own', async () => {
      const metadata = {
        token_endpoint_auth_method: undefined,
        client_id: 'mine',
        client_secret: 'x',
      }
      const clients = [
        await given().caller.register(metadata),
        await given().caller.register(metadata),
      ]
      const values = clients.flatMap(({ body }) => [body.client_id, body.client_secret])
      expect(new Set(values).size).toBe(4)
      expect(values).not.toContain('mine')
      expect(values).not.toContain('x')
    })

    test('RFC 7591 2: metadata that is not known is ignored', async () => {
      const metadata = { 'client_name#de': 'Prüfer', unheard_of: 'x', software_id: 'x' }
      const { status, body } = await given().caller.register(metadata)
      expect(status).toBe(201)
      expect(body).not.toHaveProperty('unheard_of')
    })

    test.each([
      ['RFC 7591 5: no redirect URIs', { redirect_uris: [] }, 'invalid_redirect_uri'],
      ['RFC 7591 2: redirect URIs left out', { redirect_uris: undefined }, 'invalid_redirect_uri'],
      [
        'RFC 7591 2: keys and the address of keys at once',
        { jwks: { keys: [] }, jwks_uri: 'https://client.example/jwks' },
        'invalid_client_metadata',
      ],
      [
        'RFC 7591 3.2.2: a method of authentication that is not offered',
        { token_endpoint_auth_method: 'private_key_jwt' },
        'invalid_client_metadata',
      ],
      [
        'RFC 7591 3.2.2: a value of the wrong type',
        { client_name: { ü: 1 } },
        'invalid_client_metadata',
      ],
      [
        'RFC 7591 3.2.2: an address that is none, in other letters than ASCII',
        { redirect_uris: ['https://évil.example/"\\'] },
        'invalid_redirect_uri',
      ],
    ])('%s: refused with 400, in ASCII', async (_, change, error) => {
      const { status, headers, body } = await given().caller.register(change)
      expect([status, body.error]).toEqual([400, error])
      expect(headers.get('content-type')).toMatch(/^application\/json/)
      expect(body.error_description).toMatch(errorText)
    })

    test('RFC 7591 3.1: a body that is no JSON is refused', async () => {
      const { caller } = given()
      const answer = await caller.json<{ error: string }>(`${caller.base}/register`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{',
      })
      expect([answer.status, answer.body.error]).toEqual([400, 'invalid_client_metadata'])
    })
  })

  describe('what metadata says', () => {
    test('RFC 8414 2 and 3.2: the issuer is an address alone, and no list is empty', async () => {
      const { caller, world } = given()
      const path = `${caller.base}/.well-known/oauth-authorization-server`
      const { body } = await caller.json<Record<string, unknown>>(path)
      const issuer = new URL(String(body['issuer']))
      expect([issuer.search, issuer.hash]).toEqual(['', ''])
      expect(body['issuer']).toBe(world.issuer)
      const lists = Object.entries(body).filter(([, value]) => Array.isArray(value))
      expect(lists.filter(([, value]) => (value as unknown[]).length === 0)).toEqual([])
      expect(body).not.toHaveProperty('token_endpoint_auth_signing_alg_values_supported')
      // RFC 9700, sections 2.1.2 and 2.4.
      const grants = JSON.stringify(body['grant_types_supported'])
      expect(grants).not.toMatch(/implicit|password/)
    })

    test('RFC 9700 4.13: headers of a request decide on no address', async () => {
      const { caller, world } = given()
      const { body } = await caller.json<Record<string, string>>(
        `${caller.base}/.well-known/oauth-authorization-server`,
        { headers: { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' } },
      )
      expect(body['issuer']).toBe(world.issuer)
      expect(JSON.stringify(body)).not.toContain('evil.example')
    })
  })
}
