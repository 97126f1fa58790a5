import { decodeJwt, decodeProtectedHeader } from 'jose'
import { listOutboxEvents } from '@tollgate/domain/outbox/repository'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { changeRules } from './customer-auth-changes.ts'
import {
  Browser,
  Caller,
  createWorld,
  drawPkce,
  formTokenOf,
  hosted,
  startAuthStack,
  type Page,
  type World,
} from './customer-auth-world.ts'
import type { TestStack } from './test-stack.ts'

let stack: TestStack
let world: World
let caller: Caller

beforeAll(async () => {
  stack = await startAuthStack()
  world = await createWorld(stack)
  caller = new Caller(stack, world)
})
afterAll(() => stack.stop())

type CustomerBody = { reference: string; email: string; purchases: { planRef: string }[] }

function findByEmail(email: string, of = world) {
  const path = `/v1/sdk/customers?email=${encodeURIComponent(email)}`
  return stack.call<CustomerBody>(of.key, 'GET', path)
}

function createCustomer(body: object) {
  return stack.call<CustomerBody>(world.key, 'POST', '/v1/sdk/customers', body)
}

async function eventTypes(): Promise<string[]> {
  const events = await listOutboxEvents(stack.database.in('sandbox'), world.tenant.providerId, 1000)
  return events.map(({ type }) => type)
}

async function startFor(email: string, of = caller) {
  const { body: client } = await of.register()
  const { verifier, challenge } = drawPkce()
  const browser = new Browser(stack)
  const page = await browser.follow(await browser.open(of.authorizeUrl(client, challenge)))
  return { client, verifier, browser, page, consent: () => of.signIn(browser, page, email) }
}

describe('the first consent', () => {
  test('creates the customer with the free plan, and issues tokens that work until they are revoked', async () => {
    const { client, tokens } = await caller.connect('ada@example.com')
    expect(decodeProtectedHeader(tokens.access_token)).toMatchObject({
      typ: 'at+jwt',
      alg: 'ES256',
    })
    const claims = decodeJwt(tokens.access_token)
    expect(claims).toMatchObject({
      iss: world.issuer,
      aud: world.proxyUrl,
      sub: expect.stringMatching(/^cus_/) as string,
      customerRef: claims.sub,
      client_id: client.client_id,
      scope: 'openid profile email',
      jti: expect.any(String) as string,
    })
    expect(claims.exp! - claims.iat!).toBe(900)
    expect((await caller.userinfo(tokens.access_token)).body).toEqual({
      sub: claims.sub,
      customerRef: claims.sub,
      email: 'ada@example.com',
    })
    const { body: customer } = await findByEmail('ada@example.com')
    expect(customer.reference).toBe(claims.sub)
    expect(customer.purchases.map(({ planRef }) => planRef)).toEqual([world.freePlanRef])
    const pool = stack.database.in('sandbox')
    const events = await listOutboxEvents(pool, world.tenant.providerId, 1000)
    const [created] = events.filter(({ type }) => type === 'customer.created')
    expect(created?.object).toMatchObject({ product: { reference: world.productRef } })

    const { client_id } = client
    const revoked = await caller.revoke({ client_id, token: tokens.refresh_token })
    expect(revoked.body).toMatchObject({ revoked: true, message: expect.any(String) as string })
    expect((await caller.userinfo(tokens.access_token)).status).toBe(401)
    expect((await caller.refresh(client, tokens.refresh_token)).body.error).toBe('invalid_grant')
  })

  test("finds the customer by email, or by a provider's reference that equals the address", async () => {
    const byEmail = await createCustomer({ email: 'Grace@Example.com', externalRef: 'user-1' })
    const { tokens } = await caller.connect('grace@example.com')
    expect(decodeJwt(tokens.access_token).sub).toBe(byEmail.body.reference)
    const email = 'alan-1700000000000@auto-created.local'
    const byRef = await createCustomer({ email, externalRef: 'Alan@example.com' })
    const { tokens: other } = await caller.connect('alan@example.com')
    expect(decodeJwt(other.access_token).sub).toBe(byRef.body.reference)
  })

  test.each<[string, string, string, (string | undefined)?, string?]>([
    ['of a customer who has an address', 'bob@example.com', 'mallory@example.com'],
    ['that was replaced', 'carol@example.com', 'carol-1@auto-created.local', 'user-7'],
    ['of two customers', 'dora@example.com', 'dora-1@auto-created.local', undefined, 'DORA'],
  ])('opens no account by a reference %s', async (_, address, email, later, twin) => {
    const { body } = await createCustomer({ email, externalRef: address })
    if (later !== undefined) {
      const path = `/v1/sdk/customers/${body.reference}`
      expect((await stack.call(world.key, 'PATCH', path, { externalRef: later })).status).toBe(200)
    }
    if (twin !== undefined) {
      const externalRef = address.replace('dora', twin)
      await createCustomer({ email: `${twin}-2@auto-created.local`, externalRef })
    }
    const { tokens } = await caller.connect(address)
    const { body: own } = await findByEmail(address)
    expect(own.reference).not.toBe(body.reference)
    expect(decodeJwt(tokens.access_token).sub).toBe(own.reference)
  })

  test('shows the name of a client as one line of visible text', async () => {
    const client_name = ` \u202eedualC\u2066 \n<b>Weather</b>\u200b${'x'.repeat(100)}`
    const { body: client } = await caller.register({ client_name })
    const browser = new Browser(stack)
    const page = await browser.follow(
      await browser.open(caller.authorizeUrl(client, drawPkce().challenge)),
    )
    const { text } = await caller.signIn(browser, page, 'names@example.com')
    const shown = `edualC &lt;b&gt;Weather&lt;/b&gt;${'x'.repeat(59)}`
    expect(text).toContain(`<h1>Allow ${shown}?</h1>`)
    expect(text).not.toMatch(/[\u2028-\u202e\u2066-\u2069]/)
  })

  test('starts no plan that has a price', async () => {
    const plan = {
      key: 'payg',
      name: 'Pay as you go',
      price: 0,
      currency: 'USD',
      creditsPerUnit: 5,
    }
    const paid = await createWorld(stack, {
      tenant: world.tenant,
      plans: [{ ...plan, type: 'usage-based' }],
    })
    const { tokens } = await new Caller(stack, paid).connect('frugal@example.com')
    expect(tokens.access_token).toBeTruthy()
    expect((await findByEmail('frugal@example.com')).body.purchases).toEqual([])
  })

  test('creates nothing and redirects with an error if refused', async () => {
    const { browser, consent } = await startFor('mary@example.com')
    const before = await eventTypes()
    const answered = await caller.answer(browser, await consent(), 'refuse')
    const end = await browser.follow(answered)
    const { searchParams } = new URL(end.location!)
    expect(Object.fromEntries(searchParams)).toMatchObject({
      ...{ error: 'access_denied', state: 'st4te', iss: world.issuer },
    })
    expect((await findByEmail('mary@example.com')).status).toBe(404)
    expect(await eventTypes()).toEqual(before)
  })

  test('leaves a customer and can be repeated if the process dies before issuing the code', async () => {
    const { browser, consent } = await startFor('crash@example.com')
    const answered = await caller.answer(browser, await consent(), 'allow')
    expect(answered.location).toContain('/oauth/authorize/')
    // The browser never arrives there, as after a crash, so no client has the grant.
    const { tokens } = await caller.connect('crash@example.com')
    const { body } = await findByEmail('crash@example.com')
    expect([decodeJwt(tokens.access_token).sub, body.purchases.length]).toEqual([body.reference, 1])
  })

  test('creates one customer for two concurrent consents', async () => {
    const starts = await Promise.all([1, 2].map(() => startFor('twins@example.com')))
    const consents: Page[] = []
    for (const { consent } of starts) consents.push(await consent())
    const ends = await Promise.all(
      starts.map(({ browser }, index) => caller.answer(browser, consents[index]!, 'allow')),
    )
    expect(ends.map(({ status }) => status)).toEqual([303, 303])
    const rows = await stack.database.in('sandbox')`
      select from customers where email_key = 'twins@example.com'`
    expect(rows).toHaveLength(1)
  })
})

describe('the sign-in page', () => {
  test('responds in the same way for an address without a customer', async () => {
    await caller.connect('known@example.com')
    const answers = []
    for (const email of ['known@example.com', 'unknown@example.com']) {
      const { browser, page } = await startFor(email)
      const path = page.url.href
      const sent = await browser.open(`${path}/email`, { formToken: formTokenOf(page), email })
      const { status, text } = await browser.follow(sent)
      answers.push([
        status,
        text.replaceAll(email, '<email>').replaceAll(/(value|action|href)="[^"]+"/g, ''),
      ])
    }
    expect(answers[0]).toEqual(answers[1])
  })

  test('accepts five wrong codes, and then not even the right one', async () => {
    const { browser, page } = await startFor('guess@example.com')
    const path = page.url.href
    const email = 'guess@example.com'
    const formToken = formTokenOf(page)
    await browser.open(`${path}/email`, { formToken, email })
    const right = await caller.lastCode(email)
    const wrong = right === '000000' ? '000001' : '000000'
    const tries = await Promise.all(
      Array.from({ length: 12 }, () => browser.open(`${path}/code`, { formToken, code: wrong })),
    )
    expect(tries.map(({ status }) => status)).toEqual(Array(12).fill(400))
    const late = await browser.open(`${path}/code`, { formToken, code: right })
    expect([late.status, late.text]).toEqual([400, expect.stringContaining('has expired')])
  })

  test('accepts a code once, only in the browser that requested it', async () => {
    const { browser, page } = await startFor('own@example.com')
    const path = page.url.href
    const formToken = formTokenOf(page)
    await browser.open(`${path}/email`, { formToken, email: 'own@example.com' })
    const code = await caller.lastCode('own@example.com')
    const other = new Browser(stack)
    const foreign = await other.open(path)
    const stolen = await other.open(`${path}/code`, { formToken: formTokenOf(foreign), code })
    expect(stolen.status).toBe(400)
    expect((await browser.open(`${path}/code`, { formToken, code })).status).toBe(303)
    expect((await browser.open(`${path}/code`, { formToken, code })).status).toBe(400)
  })

  test('refuses a form that another site has sent', async () => {
    const { browser, page } = await startFor('csrf@example.com')
    const sent = await browser.open(`${page.url.href}/email`, { email: 'csrf@example.com' })
    expect(sent.status).toBe(403)
  })

  test('cannot be framed or cached', async () => {
    const { page } = await startFor('frame@example.com')
    expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
    expect(page.headers.get('cache-control')).toBe('no-store')
  })

  test('issues no code to an attacker who let another person answer the request', async () => {
    // The attacker starts the request and sends the address of the sign-in page to the victim.
    const attacker = await startFor('attacker@example.com')
    const victim = new Browser(stack)
    const page = await victim.open(attacker.page.url.href)
    const consent = await caller.signIn(victim, page, 'victim@example.com')
    const answered = await caller.answer(victim, consent, 'allow')
    // The victim's browser did not start the request, and the attacker's browser has no proof of the answer.
    expect((await victim.follow(answered)).status).toBe(400)
    const { origin, pathname } = new URL(answered.location!)
    const taken = await attacker.browser.open(origin + pathname)
    expect([taken.status, taken.location]).toEqual([400, undefined])
  })
})

describe('data of one server', () => {
  let other: Caller
  let otherEnvironment: Caller
  let otherProvider: Caller

  beforeAll(async () => {
    other = new Caller(stack, await createWorld(stack, { tenant: world.tenant }))
    const live = { tenant: world.tenant, environment: 'live' } as const
    otherEnvironment = new Caller(stack, await createWorld(stack, live))
    otherProvider = new Caller(stack, await createWorld(stack))
  })

  test('is refused at every other server: its client, code, refresh and access token', async () => {
    const { client, tokens } = await caller.connect('apart@example.com')
    for (const foreign of [other, otherEnvironment, otherProvider]) {
      const { verifier, challenge } = drawPkce()
      const url = foreign.authorizeUrl(client, challenge)
      expect((await new Browser(stack).open(url)).status).toBe(400)
      const callback = await caller.authorize(client, 'apart@example.com', { challenge })
      const code = callback.searchParams.get('code')!
      expect((await foreign.redeem(client, code, verifier)).body.error).toBe('invalid_client')
      const own = (await foreign.register()).body
      expect((await foreign.redeem(own, code, verifier)).body.error).toBe('invalid_grant')
      expect((await foreign.refresh(own, tokens.refresh_token)).body.error).toBe('invalid_grant')
      expect((await foreign.userinfo(tokens.access_token)).status).toBe(401)
      // The revocation endpoint of another server reveals nothing about the token and does not revoke it.
      await foreign.revoke({ client_id: own.client_id, token: tokens.refresh_token })
      await foreign.revoke({ client_id: own.client_id, token: tokens.access_token })
    }
    expect((await caller.userinfo(tokens.access_token)).status).toBe(200)
    expect((await caller.refresh(client, tokens.refresh_token)).status).toBe(200)
  })

  test('does not sign in at another provider', async () => {
    const browser = new Browser(stack)
    const { body: client } = await caller.register()
    const { challenge } = drawPkce()
    await caller.authorize(client, 'both@example.com', { challenge }, browser)
    const { body: foreign } = await otherProvider.register()
    const started = await browser.open(otherProvider.authorizeUrl(foreign, challenge))
    expect((await browser.follow(started)).text).toContain('name="email"')
    // At the same provider, the browser needs only its consent.
    const again = await browser.open(caller.authorizeUrl(client, challenge))
    expect((await browser.follow(again)).text).toContain('name="answer"')
  })
})

describe('a customer who is deleted', () => {
  test('loses tokens, refresh tokens and sign-ins', async () => {
    const { client, tokens } = await caller.connect('leaver@example.com')
    const reference = decodeJwt(tokens.access_token).sub!
    const path = `/v1/ui/customers/${reference}?settle=write_off`
    expect((await stack.call(world.key, 'DELETE', path)).status).toBe(200)
    expect((await caller.userinfo(tokens.access_token)).status).toBe(401)
    expect((await caller.refresh(client, tokens.refresh_token)).body.error).toBe('invalid_grant')
    const [{ jti }] = await stack.database.in('sandbox')<[{ jti: string }]>`
      select jti from oauth_revoked_tokens where jti = ${decodeJwt(tokens.access_token).jti!}`
    expect(jti).toBe(decodeJwt(tokens.access_token).jti)
  })
})

describe('a link for a customer', () => {
  async function linkFor(email: string, body: object) {
    const { body: customer } = await findByEmail(email)
    const linkBody = { customerRef: customer.reference, productRef: world.productRef, ...body }
    const answer = await stack.call<{ url: string }>(
      ...([world.key, 'POST', '/v1/customer/auth/links', linkBody] as const),
    )
    expect(answer.status).toBe(201)
    return answer.body.url
  }

  test.each([
    ['checkout', '/customer/checkout?id=', 200],
    // Payments are not configured in this stack.
    ['topup', '/customer/checkout?id=', 409],
    ['portal', '/customer/manage?id=', 200],
  ])(
    'to the %s asks for a sign-in, and opens the page for its customer once',
    async (purpose, path, status) => {
      await caller.connect('buyer@example.com')
      const url = await linkFor('buyer@example.com', { purpose })
      expect(url).toMatch(new RegExp(`^${hosted}/customer/connect/[\\w-]{22}$`))
      const browser = new Browser(stack)
      const page = await browser.open(url)
      expect(page.text).toContain('name="email"')
      expect(page.text).not.toContain('Continue with')
      // Opening the link again does not use it up.
      await browser.open(url)
      const confirm = await caller.signIn(browser, page, 'buyer@example.com')
      const formToken = formTokenOf(confirm)
      const led = await browser.open(`${url}/continue`, { formToken })
      expect(led.location).toContain(path)
      const end = await browser.follow(await browser.open(led.location!))
      expect(end.status).toBe(status)
      expect((await browser.open(`${url}/continue`, { formToken })).status).toBe(410)
    },
  )

  test('refuses every other customer, and changes nothing', async () => {
    await caller.connect('buyer@example.com')
    const url = await linkFor('buyer@example.com', { purpose: 'portal' })
    const browser = new Browser(stack)
    const page = await browser.open(url)
    const refused = await caller.signIn(browser, page, 'somebody-else@example.com')
    expect([refused.status, refused.text]).toEqual([
      403,
      expect.stringContaining('another customer'),
    ])
    const forced = await browser.open(`${url}/continue`, { formToken: formTokenOf(refused) })
    expect(forced.status).toBe(403)
    expect((await findByEmail('somebody-else@example.com')).status).toBe(404)
  })

  test('explains that it is unknown or has expired', async () => {
    await caller.connect('buyer@example.com')
    expect((await new Browser(stack).open(`${hosted}/customer/connect/unknown`)).status).toBe(404)
    const url = await linkFor('buyer@example.com', { purpose: 'portal' })
    await stack.database.in('sandbox')`update customer_links set expires_at = now()`
    expect((await new Browser(stack).open(url)).status).toBe(410)
  })

  test('is not created for a customer of another provider', async () => {
    const { body: customer } = await findByEmail('buyer@example.com')
    const foreign = await createWorld(stack)
    const linkBody = {
      customerRef: customer.reference,
      productRef: foreign.productRef,
      purpose: 'portal',
    }
    const { status } = await stack.call(foreign.key, 'POST', '/v1/customer/auth/links', linkBody)
    expect(status).toBe(404)
  })
})

changeRules(() => caller)
