import { describe, expect, test } from 'vitest'
import type { RfcWorld } from './customer-auth-rfc-world.ts'
import { Browser, drawPkce, formTokenOf, redirectUri } from './customer-auth-world.ts'

/** Characters that are allowed in `error` and `error_description` (RFC 6749, sections 4.1.2.1 and 5.2). */
export const errorText = /^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/

/** Tests of the rules for the authorization endpoint. */
export function requestRules(given: () => RfcWorld): void {
  describe('parameters of the request for a code', () => {
    test.each(['client_id', 'state', 'scope', 'code_challenge', 'redirect_uri'])(
      'RFC 6749 3.1: %s that is given twice is refused',
      async (name) => {
        const { page, answer } = await given().authorizeWith({}, [[name, 'again']])
        const isShownToPerson = name === 'client_id' || name === 'redirect_uri' || name === 'state'
        if (isShownToPerson && answer === undefined) expect(page.status).toBe(400)
        else expect(answer).toMatchObject({ error: 'invalid_request' })
      },
    )

    test.each(['response_type', 'code_challenge'])(
      'RFC 6749 3.1: %s without a value counts as left out',
      async (name) => {
        const { answer } = await given().authorizeWith({ [name]: '' })
        expect(answer).toMatchObject({ error: 'invalid_request' })
      },
    )

    test('RFC 6749 3.1: parameters that are not known are ignored, and POST is taken as GET is', async () => {
      const { page } = await given().authorizeWith({ unheard_of: '1', nonce: '' })
      expect(page.location).toContain('/customer/authorize/')
      const url = new URL(given().caller.authorizeUrl(given().client, drawPkce().challenge))
      const form = Object.fromEntries(url.searchParams)
      const posted = await new Browser(given().stack).open(url.origin + url.pathname, form)
      expect(posted.location).toContain('/customer/authorize/')
      // RFC 9700, section 4.12: with 307 the browser would send the form to the client.
      expect(posted.status).toBe(303)
    })

    test.each([
      ['RFC 7636 4.2: a challenge that is too short', 'a'.repeat(42)],
      ['RFC 7636 4.2: a challenge that is too long', 'a'.repeat(129)],
      ['RFC 7636 4.2: a challenge with other characters', `${'a'.repeat(42)}+`],
    ])('%s is refused', async (_, code_challenge) => {
      const { answer } = await given().authorizeWith({ code_challenge })
      expect(answer).toMatchObject({ error: 'invalid_request' })
    })

    test('RFC 7636 4.3: a challenge without a method means `plain`, which is refused', async () => {
      const { answer } = await given().authorizeWith({ code_challenge_method: undefined })
      expect(answer).toMatchObject({ error: 'invalid_request' })
    })

    test('RFC 9700 2.1.1: a client with a secret needs PKCE as well', async () => {
      const { body } = await given().caller.register({ token_endpoint_auth_method: undefined })
      const { answer } = await given().authorizeWith({
        ...{ client_id: body.client_id, code_challenge: undefined },
        code_challenge_method: undefined,
      })
      expect(answer).toMatchObject({ error: 'invalid_request' })
    })

    test.each([
      ['RFC 8707 2: a resource with a fragment', (own: string) => [`${own}#part`]],
      [
        'RFC 8707 2: one resource of two that is not ours',
        (own: string) => [own, 'https://elsewhere.example/mcp'],
      ],
    ])('%s is refused', async (_, resources) => {
      const pairs = resources(given().world.proxyUrl).map((each): [string, string] => [
        'resource',
        each,
      ])
      const { answer } = await given().authorizeWith({ resource: undefined }, pairs)
      expect(answer).toMatchObject({ error: 'invalid_target' })
    })

    test.each(['fragment', 'form_post', 'web_message', 'jwt', 'query.jwt'])(
      'RFC 8414 2: the response mode %s, which is not announced, is refused in the query',
      async (response_mode) => {
        const url = new URL(given().caller.authorizeUrl(given().client, drawPkce().challenge))
        url.searchParams.set('response_mode', response_mode)
        const form = Object.fromEntries(url.searchParams)
        const pages = [
          await new Browser(given().stack).open(url.href),
          await new Browser(given().stack).open(url.origin + url.pathname, form),
        ]
        for (const { location } of pages) {
          expect(location).toContain(`${redirectUri}?`)
          expect(Object.fromEntries(new URL(location!).searchParams)).toMatchObject({
            ...{ error: 'unsupported_response_mode', state: 'st4te' },
          })
        }
        const { page } = await given().authorizeWith({ response_mode: 'query' })
        expect(page.location).toContain('/customer/authorize/')
      },
    )

    test('RFC 6749 4.1.2.1: what an error says has no characters that are not allowed', async () => {
      const changes = [
        { response_type: 'tok"en\\é' },
        { scope: 'öpenid "x"' },
        { prompt: 'ünknown' },
        { code_challenge_method: '"é' },
        { response_mode: 'fragmént"' },
        { resource: 'https://élsewhere.example/"' },
        { max_age: '"é' },
      ]
      for (const change of changes) {
        const { answer } = await given().authorizeWith(change)
        if (answer?.['error'] === undefined) continue
        expect(answer['error']).toMatch(errorText)
        expect(answer['error_description'] ?? 'none').toMatch(errorText)
      }
    })
  })

  describe('redirects', () => {
    test.each([
      ['another path', '/callback/other'],
      ['the path in other letters', '/Callback'],
      ['the path with a slash', '/callback/'],
      ['a path that leads back to it', '/x/../callback'],
      ['a fragment', '/callback#part'],
    ])('RFC 9700 4.1.3: %s is no registered redirect URI', async (_, path) => {
      const redirect_uri = `http://127.0.0.1:5555${path}`
      const { page } = await given().authorizeWith({ redirect_uri })
      expect([page.status, page.location]).toEqual([400, undefined])
    })

    test('RFC 6749 3.1.2.3: a client with two redirect URIs has to name one', async () => {
      const redirect_uris = [redirectUri, 'http://127.0.0.1:5556/other']
      const { body } = await given().caller.register({ redirect_uris })
      const { page } = await given().authorizeWith({
        ...{ client_id: body.client_id, redirect_uri: undefined },
      })
      expect([page.status, page.location]).toEqual([400, undefined])
    })

    test('RFC 6749 3.1.2 and 4.1.2: keeps the query of the redirect URI, and returns the state as it was sent', async () => {
      const redirect_uri = `${redirectUri}?tenant=a%20b&code=mine`
      const state = 'ä +&=%22"\\<>'
      const { body } = await given().caller.register({ redirect_uris: [redirect_uri] })
      const { callback } = await given().newCode({ redirect_uri, state }, body)
      expect(callback.searchParams.get('tenant')).toBe('a b')
      expect(callback.searchParams.get('state')).toBe(state)
      expect(callback.searchParams.getAll('code').at(-1)).toMatch(/^[\w-]{43,}$/)
    })

    test('RFC 9700 4.12: no redirect on the way to a code is a 307', async () => {
      const { caller, client, browser } = given()
      await given().newCode()
      const started = await browser.open(caller.authorizeUrl(client, drawPkce().challenge))
      const consent = await browser.follow(started)
      const answered = await caller.answer(browser, consent, 'allow')
      const resumed = await browser.open(answered.location!)
      expect([started.status, answered.status, resumed.status]).toEqual([303, 303, 303])
    })
  })

  describe('the pages of the request', () => {
    test('RFC 6749 10.12: an answer that another site sends is refused', async () => {
      const { caller, client, browser } = given()
      await given().newCode()
      const started = await browser.open(caller.authorizeUrl(client, drawPkce().challenge))
      const consent = await browser.follow(started)
      const forged = await browser.open(`${consent.url.href}/answer`, { answer: 'allow' })
      expect([forged.status, forged.location]).toEqual([403, undefined])
      const token = formTokenOf(consent)
      const other = new Browser(given().stack)
      const sent = { answer: 'allow', formToken: token }
      expect((await other.open(`${consent.url.href}/answer`, sent)).status).toBe(403)
    })

    test('RFC 9700 2.6: pages of other sites cannot read the authorization endpoint', async () => {
      const { caller, stack } = given()
      for (const method of ['GET', 'OPTIONS']) {
        const headers = { origin: 'https://elsewhere.example' }
        const answer = await stack.fetch(`${caller.base}/authorize`, { method, headers })
        expect(answer.headers.get('access-control-allow-origin')).toBeNull()
      }
    })
  })
}
