import { decodeJwt } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
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
import { FakeGithub, FakeOpenid, githubClient, openidClient, travel } from './upstream-servers.ts'

let google: FakeOpenid
let github: FakeGithub
let stack: TestStack
let world: World
let caller: Caller

beforeAll(async () => {
  ;[google, github] = await Promise.all([
    FakeOpenid.start(`${hosted}/customer/sign-in/google/callback`),
    FakeGithub.start(),
  ])
  stack = await startAuthStack({
    TOLLGATE_GOOGLE_CLIENT_ID: openidClient.id,
    TOLLGATE_GOOGLE_CLIENT_SECRET: openidClient.secret,
    TOLLGATE_GOOGLE_ISSUER: google.url,
    TOLLGATE_GITHUB_CLIENT_ID: githubClient.id,
    TOLLGATE_GITHUB_CLIENT_SECRET: githubClient.secret,
    TOLLGATE_GITHUB_URL: `${github.url}/`,
    TOLLGATE_CUSTOMER_AUTH_UPSTREAM_TIMEOUT_MS: '1500',
  })
  world = await createWorld(stack)
  caller = new Caller(stack, world)
})
afterAll(async () => {
  await stack.stop()
  await Promise.all([google.stop(), github.stop()])
})
beforeEach(() => {
  google.mode = 'up'
  github.mode = 'up'
})

type Name = 'google' | 'github'

/** Opens the sign-in page for a client that waits. */
async function start(of = caller) {
  const { body: client } = await of.register()
  const { verifier, challenge } = drawPkce()
  const browser = new Browser(stack)
  const page = await browser.follow(await browser.open(of.authorizeUrl(client, challenge)))
  return { client, verifier, browser, page }
}

/** Sends the form. Returns the address at the upstream to which the browser is sent. */
async function leave(browser: Browser, page: Page, name: Name): Promise<URL> {
  const path = page.url.href.replace(/\?.*/, '')
  const form = { formToken: formTokenOf(page) }
  const leaving = await browser.open(`${path}/upstream/${name}`, form)
  const [, address = ''] = /^0; url=(.*)$/.exec(leaving.headers.get('refresh') ?? '') ?? []
  if (address === '') throw new Error(`${leaving.status} ${leaving.location} ${leaving.text}`)
  return new URL(address)
}

async function comeBack(browser: Browser, callback: URL): Promise<Page> {
  return browser.follow(await browser.open(callback.href))
}

/** Signs in up to the next page: the consent page, or the sign-in page with the reason. */
async function signIn(name: Name, of = caller) {
  const started = await start(of)
  const { browser, page } = started
  const callback = await travel((await leave(browser, page, name)).href)
  return { ...started, callback, after: await comeBack(browser, callback) }
}

/** Runs the complete flow. Returns the customer whose token the client gets. */
async function connect(name: Name, of = caller): Promise<string> {
  const { client, verifier, browser, after } = await signIn(name, of)
  const end = await browser.follow(await of.answer(browser, after, 'allow'))
  const code = new URL(end.location!).searchParams.get('code')!
  const { status, body } = await of.redeem(client, code, verifier)
  expect(status).toBe(200)
  return decodeJwt(body.access_token).sub!
}

function useGoogle(sub: string, email: string, more: object = {}): void {
  google.account = { sub, email, email_verified: true, ...more }
}

function useGithub(id: number, email: string, more: object = {}): void {
  const emails = [
    { email: 'other@example.com', primary: false, verified: true },
    { email, primary: true, verified: true, ...more },
  ]
  github.account = { id, name: 'Octo Cat', emails }
}

function isSignedIn(browser: Browser): boolean {
  return browser.cookieNames.some((name) => name.includes('signed_in'))
}

type CustomerBody = { reference: string; name: string; email: string }

async function findByEmail(email: string, of = world): Promise<CustomerBody | undefined> {
  const path = `/v1/sdk/customers?email=${encodeURIComponent(email)}`
  const { status, body } = await stack.call<CustomerBody>(of.key, 'GET', path)
  return status === 404 ? undefined : body
}

// This test must run first, while the metadata of Google is not cached.
test('says that Google is unreachable, offers the code, and tries again next time', async () => {
  const { browser, page } = await start()
  google.mode = 'broken'
  const path = page.url.href
  const form = { formToken: formTokenOf(page) }
  const back = await browser.follow(await browser.open(`${path}/upstream/google`, form))
  expect(back.text).toContain('Google could not complete the sign-in.')
  expect((await caller.signIn(browser, back, 'code@example.com')).text).toContain('name="answer"')
  google.mode = 'up'
  expect((await leave(browser, page, 'google')).origin).toBe(google.url)
})

describe('signing in with Google', () => {
  test('creates the customer at the first consent, and finds it afterwards', async () => {
    useGoogle('g-1', 'Ada@example.com', { name: 'Ada Lovelace' })
    const customerRef = await connect('google')
    expect(await findByEmail('ada@example.com')).toMatchObject({
      reference: customerRef,
      name: 'Ada Lovelace',
    })
    expect(await connect('google')).toBe(customerRef)
  })

  test('sends PKCE, a nonce and a state, with the one callback address', async () => {
    const { browser, page } = await start()
    const { searchParams } = await leave(browser, page, 'google')
    expect(Object.fromEntries(searchParams)).toEqual({
      client_id: openidClient.id,
      response_type: 'code',
      redirect_uri: `${hosted}/customer/sign-in/google/callback`,
      scope: 'openid email profile',
      prompt: 'select_account',
      code_challenge_method: 'S256',
      code_challenge: expect.stringMatching(/^[\w-]{43}$/) as string,
      nonce: expect.stringMatching(/^[\w-]{43}$/) as string,
      state: expect.stringMatching(/^sandbox\.[\w-]{43}$/) as string,
    })
  })

  test.each([
    ['an address that is not verified', { email_verified: false }],
    ['an address of which Google says nothing', { email_verified: undefined }],
    ['no address', { email: undefined }],
  ])('refuses an account with %s', async (_name, claims) => {
    useGoogle('g-unverified', 'unverified@example.com', claims)
    const { browser, after } = await signIn('google')
    expect(after.text).toContain('Your email address at Google is not verified.')
    expect(isSignedIn(browser)).toBe(false)
  })

  test.each(['nonce', 'code_challenge'])('refuses a response to another %s', async (parameter) => {
    useGoogle('g-1', 'ada@example.com')
    const { browser, page } = await start()
    const address = await leave(browser, page, 'google')
    address.searchParams.set(parameter, 'A'.repeat(43))
    const after = await comeBack(browser, await travel(address.href))
    expect(after.text).toContain('Google could not complete the sign-in.')
    expect(isSignedIn(browser)).toBe(false)
  })

  test('refuses an ID token that Google has not signed', async () => {
    useGoogle('g-1', 'ada@example.com')
    google.isForging = true
    const { browser, after } = await signIn('google')
    google.isForging = false
    expect(after.text).toContain('Google could not complete the sign-in.')
    expect(isSignedIn(browser)).toBe(false)
  })

  test('continues to the page of a link', async () => {
    useGoogle('g-1', 'ada@example.com')
    const customerRef = await connect('google')
    const body = { customerRef, productRef: world.productRef, purpose: 'portal' }
    const path = '/v1/customer/auth/links'
    const { body: link } = await stack.call<{ url: string }>(world.key, 'POST', path, body)
    const browser = new Browser(stack)
    const page = await browser.open(link.url)
    const callback = await travel((await leave(browser, page, 'google')).href)
    const confirm = await comeBack(browser, callback)
    const form = { formToken: formTokenOf(confirm) }
    expect((await browser.open(`${link.url}/continue`, form)).location).toContain(
      '/customer/manage?id=',
    )
  })
})

describe('signing in with GitHub', () => {
  test('finds the customer that the provider created, by the primary address', async () => {
    const created = await stack.call<CustomerBody>(world.key, 'POST', '/v1/sdk/customers', {
      email: 'cat@example.com',
      externalRef: 'user-1',
    })
    useGithub(7, 'cat@example.com')
    expect(await connect('github')).toBe(created.body.reference)
  })

  test('refuses an unverified primary address, whatever the other addresses are', async () => {
    useGithub(8, 'unverified@example.com', { verified: false })
    const { browser, after } = await signIn('github')
    expect(after.text).toContain('Your email address at GitHub is not verified.')
    expect(isSignedIn(browser)).toBe(false)
  })

  test.each(['broken', 'hanging'] as const)('shows an error while GitHub is %s', async (mode) => {
    useGithub(7, 'cat@example.com')
    const { browser, page } = await start()
    const callback = await travel((await leave(browser, page, 'github')).href)
    github.mode = mode
    const after = await comeBack(browser, callback)
    expect(after.text).toContain('GitHub could not complete the sign-in.')
    expect((await caller.signIn(browser, after, 'cat@example.com')).text).toContain('name="answer"')
  })
})

describe('the state', () => {
  beforeEach(() => useGithub(7, 'cat@example.com'))

  test('is used once', async () => {
    const { browser, callback } = await signIn('github')
    expect((await browser.open(callback.href)).status).toBe(410)
  })

  test('is bound to its browser, and another browser does not use it up', async () => {
    const attacker = await start()
    const callback = await travel((await leave(attacker.browser, attacker.page, 'github')).href)
    const victim = await start()
    for (const browser of [victim.browser, new Browser(stack)]) {
      expect((await browser.open(callback.href)).status).toBe(410)
      expect(isSignedIn(browser)).toBe(false)
    }
    expect((await comeBack(attacker.browser, callback)).text).toContain('name="answer"')
  })

  test('belongs to one upstream and one environment, and must be issued by Tollgate', async () => {
    const { browser, page } = await start()
    const callback = await travel((await leave(browser, page, 'github')).href)
    const state = callback.searchParams.get('state')!
    const other = new URL(callback.href.replace('/github/', '/google/'))
    expect((await browser.open(other.href)).status).toBe(410)
    for (const wrong of [state.replace('sandbox', 'live'), `${state}A`, 'sandbox.', '']) {
      const url = new URL(callback)
      url.searchParams.set('state', wrong)
      expect([wrong, (await browser.open(url.href)).status]).toEqual([wrong, 410])
    }
    expect(isSignedIn(browser)).toBe(false)
  })

  test('expires after 10 minutes', async () => {
    const { browser, page } = await start()
    const callback = await travel((await leave(browser, page, 'github')).href)
    const [row] = await stack.database.in('sandbox')<{ ms: number }[]>`
      with moved as (update customer_upstream_sign_ins
        set expires_at = expires_at - interval '10 minutes' returning *)
      select extract(epoch from expires_at - created_at) * 1000 as ms from moved`
    expect(Number(row!.ms)).toBeLessThanOrEqual(0)
    expect((await browser.open(callback.href)).status).toBe(410)
  })

  test('leads only back to the page, whatever the address requests', async () => {
    const { browser, page } = await start()
    const path = page.url.href
    const form = { formToken: formTokenOf(page), returnTo: 'https://evil.example', path: '//evil' }
    const leaving = await browser.open(`${path}/upstream/github?returnTo=//evil.example`, form)
    const callback = await travel(leaving.headers.get('refresh')!.slice('0; url='.length))
    for (const name of ['returnTo', 'redirect_uri', 'next']) {
      callback.searchParams.set(name, 'https://evil.example')
    }
    expect((await browser.open(callback.href)).location).toBe(path)
  })

  test('is not issued to forms of other sites', async () => {
    const { browser, page } = await start()
    const forged = { formToken: 'forged' }
    expect((await browser.open(`${page.url.href}/upstream/github`, forged)).status).toBe(403)
    expect((await browser.open(`${page.url.href}/upstream/github`)).status).toBe(404)
  })
})

test.each(['google', 'github'] as const)(
  'shows a notice to a person who refuses at %s',
  async (name) => {
    const { browser, page } = await start()
    const state = (await leave(browser, page, name)).searchParams.get('state')!
    const query = new URLSearchParams({ error: 'access_denied', state })
    const callback = new URL(`${hosted}/customer/sign-in/${name}/callback?${query.toString()}`)
    const after = await comeBack(browser, callback)
    expect(after.text).toMatch(/You did not allow the sign-in with (Google|GitHub)\./)
    expect((await caller.signIn(browser, after, 'denied@example.com')).text).toContain('"answer"')
  },
)

describe('an account', () => {
  test('stays with its customer when its address at the upstream changes', async () => {
    useGoogle('g-moving', 'before@example.com')
    const customerRef = await connect('google')
    useGoogle('g-moving', 'after@example.com')
    expect(await connect('google')).toBe(customerRef)
    expect(await findByEmail('after@example.com')).toBeUndefined()
  })

  test('with the address of a linked customer does not become that customer', async () => {
    useGoogle('g-first', 'desk@example.com')
    const customerRef = await connect('google')
    useGoogle('g-second', 'desk@example.com')
    const { browser, after } = await signIn('google')
    expect(after.text).toContain('Another account at Google is linked to this email address.')
    expect(isSignedIn(browser)).toBe(false)
    // GitHub proves nothing about accounts at Google. The code proves the ownership of the mailbox.
    useGithub(20, 'desk@example.com')
    expect(await connect('github')).toBe(customerRef)
    // The first account still belongs to the customer.
    useGoogle('g-first', 'desk@example.com')
    expect(await connect('google')).toBe(customerRef)
  })

  test('is deleted with its customer, as is its link to the address', async () => {
    useGoogle('g-leaver', 'leaver@example.com')
    const customerRef = await connect('google')
    const path = `/v1/ui/customers/${customerRef}?settle=write_off`
    expect((await stack.call(world.key, 'DELETE', path)).status).toBe(200)
    const rows = await stack.database.in('sandbox')`
      select 1 from customer_identities where customer_ref = ${customerRef}`
    expect(rows).toHaveLength(0)
    useGoogle('g-joiner', 'leaver@example.com')
    expect(await connect('google')).not.toBe(customerRef)
  })

  test('does not follow its old address to another customer', async () => {
    useGoogle('g-corrected', 'typo@example.com')
    const customerRef = await connect('google')
    // The provider corrects the email address of the customer.
    await stack.database.in('sandbox')`
      update customers set email = 'right@example.com' where reference = ${customerRef}`
    const other = await stack.call<CustomerBody>(world.key, 'POST', '/v1/sdk/customers', {
      email: 'typo@example.com',
    })
    useGoogle('g-corrected', 'mine@example.com')
    const connected = await connect('google')
    expect([customerRef, other.body.reference]).not.toContain(connected)
    expect((await findByEmail('mine@example.com'))?.reference).toBe(connected)
  })

  test('is refused if another account with the same address is linked concurrently', async () => {
    useGoogle('g-twin-1', 'twin@example.com')
    const one = await signIn('google')
    useGoogle('g-twin-2', 'twin@example.com')
    const two = await signIn('google')
    const answers = await Promise.all(
      [one, two].map(({ browser, after }) => caller.answer(browser, after, 'allow')),
    )
    const ends = answers.map(({ location }) => location!.includes('proof='))
    expect(ends.sort()).toEqual([false, true])
    const rows = await stack.database.in('sandbox')`
      select 1 from customer_identities where email_key = 'twin@example.com'`
    expect(rows).toHaveLength(1)
  })

  test('is a separate customer in each environment and at each provider', async () => {
    useGoogle('g-both', 'both@example.com')
    const live = await createWorld(stack, { tenant: world.tenant, environment: 'live' })
    const foreign = await createWorld(stack)
    const refs = [
      await connect('google'),
      await connect('google', new Caller(stack, live)),
      await connect('google', new Caller(stack, foreign)),
    ]
    expect(new Set(refs).size).toBe(3)
    const links = await stack.database.in('live')`select customer_ref from customer_identities`
    expect(links.map((each) => each['customer_ref'] as string)).toEqual([refs[1]])
  })
})
