import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  createNewUser,
  openTestBrowser,
  startConsoleStack,
  type Page,
  type TestBrowser,
} from './console-browser.ts'
import { createUser, inviteByOperator } from './console-user.ts'
import { hosted } from './customer-auth-world.ts'
import type { Tenant, TestStack } from './test-stack.ts'
import { FakeOpenid, openidClient, travel } from './upstream-servers.ts'

/* The sign-in to the console with an account at a real OpenID provider, as a browser without scripts uses it. */

const callback = `${hosted}/console/sign-in/openid/callback`

let issuer: FakeOpenid
let stack: TestStack
let tenant: Tenant
let count = 0

beforeAll(async () => {
  issuer = await FakeOpenid.start(callback)
  stack = await startConsoleStack(settingsOf(issuer))
})
afterAll(async () => {
  await stack.stop()
  await issuer.stop()
})
beforeEach(async () => {
  issuer.mode = 'up'
  stack.clock.set('2026-03-01T00:00:00Z')
  tenant = await stack.createTenant()
})

function settingsOf({ url }: FakeOpenid): Record<string, string> {
  return {
    TOLLGATE_HOSTED_URL: hosted,
    TOLLGATE_CONSOLE_OPENID_ISSUER: url,
    TOLLGATE_CONSOLE_OPENID_CLIENT_ID: openidClient.id,
    TOLLGATE_CONSOLE_OPENID_CLIENT_SECRET: openidClient.secret,
    TOLLGATE_CONSOLE_OPENID_NAME: 'Acme ID',
    // Tests sign in from this machine. Failed sign-ins from other networks are few.
    TOLLGATE_CONSOLE_SIGN_INS_PER_ADDRESS_MAX: '20',
    TOLLGATE_CUSTOMER_AUTH_UPSTREAM_TIMEOUT_MS: '1500',
  }
}

/** Signs this account in at the issuer. Returns its subject. */
function use(email: string, more: object = {}): string {
  const sub = `account-${(count += 1)}`
  issuer.account = { sub, email, email_verified: true, ...more }
  return sub
}

/** Sends the form of the page. Returns the address at the issuer to which the browser is sent. */
async function leave(browser: TestBrowser, page: Page, fields = {}): Promise<URL> {
  const answer = await browser.submit('/console/sign-in/openid', fields, page)
  const [, address] = /^0; url=(.*)$/.exec(answer.headers.get('refresh') ?? '') ?? []
  if (address === undefined) throw new Error(`${answer.status} ${answer.text}`)
  return new URL(address)
}

function comeBack(browser: TestBrowser, { pathname, search }: URL): Promise<Page> {
  return browser.load(pathname + search)
}

async function signIn(browser: TestBrowser, query = ''): Promise<Page> {
  const page = await browser.load(`/console/sign-in${query}`)
  return comeBack(browser, await travel((await leave(browser, page)).href))
}

const locationOf = (page: Page): string | null => page.headers.get('location')

/** Expects the sign-in page with the text, and nobody signed in. */
async function expectRefused(browser: TestBrowser, answer: Page, text: string): Promise<void> {
  const location = locationOf(answer) ?? ''
  expect(location).toMatch(/^\/console\/sign-in\?/)
  expect((await browser.load(location)).text).toContain(text)
  expect(await browser.me()).toBeUndefined()
}

describe('signing in', () => {
  test('signs the user of the verified address in, and continues at the page of a link', async () => {
    const email = await createNewUser(stack, tenant)
    use(email.toUpperCase())
    const browser = openTestBrowser(stack)
    const next = '/console/sandbox/customers?search=ada'
    const answer = await signIn(browser, `?next=${encodeURIComponent(next)}`)
    expect([answer.status, locationOf(answer)]).toEqual([303, next])
    expect(await browser.me()).toMatchObject({
      user: { email },
      provider: { providerId: tenant.providerId },
    })
    expect([...browser.cookies.keys()]).not.toContain('tollgate_console_openid')
  })

  test('signs an invited user in who has no password', async () => {
    const email = `invited${(count += 1)}@example.com`
    await inviteByOperator(stack, tenant, email)
    use(email)
    const browser = openTestBrowser(stack)
    await signIn(browser)
    expect((await browser.me())?.user.email).toBe(email)
    const list = await browser.load('/v1/ui/users', {
      headers: { 'tollgate-environment': 'sandbox' },
    })
    expect(JSON.parse(list.text)).toMatchObject({ users: [{ email, status: 'active' }] })
  })

  test('ends the link of the invitation, which somebody else may have got', async () => {
    const email = `invited${(count += 1)}@example.com`
    const { token } = await inviteByOperator(stack, tenant, email)
    use(email)
    await signIn(openTestBrowser(stack))
    const given = { token, password: 'another password' }
    const answer = await stack.call(undefined, 'POST', '/v1/ui/auth/password', given)
    expect(answer).toMatchObject({ status: 400, body: { code: 'password_link_invalid' } })
  })

  test('sends PKCE, a nonce and a state, with the one callback address', async () => {
    const browser = openTestBrowser(stack)
    const { searchParams } = await leave(browser, await browser.load('/console/sign-in'))
    const random = expect.stringMatching(/^[\w-]{43}$/) as string
    expect(Object.fromEntries(searchParams)).toEqual({
      ...{ client_id: openidClient.id, response_type: 'code', redirect_uri: callback },
      ...{ scope: 'openid email profile', code_challenge_method: 'S256' },
      ...{ code_challenge: random, nonce: random, state: random },
    })
  })

  test('asks a user of several providers to choose one', async () => {
    const email = await createNewUser(stack, tenant)
    const other = await stack.createTenant()
    await createUser(stack, other, email)
    use(email)
    const browser = openTestBrowser(stack)
    const next = '/console/live/invoices'
    const choice = await signIn(browser, `?next=${encodeURIComponent(next)}`)
    expect([choice.status, choice.text.match(/<option /g)?.length]).toEqual([200, 2])
    expect(await browser.me()).toBeUndefined()
    const { providerId } = other
    const left = await leave(browser, choice, { providerId })
    const answer = await comeBack(browser, await travel(left.href))
    expect(locationOf(answer)).toBe(next)
    expect((await browser.me())?.provider.providerId).toBe(providerId)
  })
})

describe('accounts', () => {
  test('sign in their user after their address has changed', async () => {
    const email = await createNewUser(stack, tenant)
    const sub = use(email)
    await signIn(openTestBrowser(stack))
    issuer.account = { sub, email: 'married@example.com', email_verified: true }
    const browser = openTestBrowser(stack)
    await signIn(browser)
    expect((await browser.me())?.user.email).toBe(email)
  })

  test('do not sign in another user whose address they have later', async () => {
    const [mine, theirs] = [await createNewUser(stack, tenant), await createNewUser(stack, tenant)]
    const sub = use(mine)
    await signIn(openTestBrowser(stack))
    issuer.account = { sub, email: theirs, email_verified: true }
    const browser = openTestBrowser(stack)
    await signIn(browser)
    expect((await browser.me())?.user.email).toBe(mine)
  })

  test('sign nobody in if their address belongs to a user with another account', async () => {
    const email = await createNewUser(stack, tenant)
    use(email)
    await signIn(openTestBrowser(stack))
    use(email)
    const browser = openTestBrowser(stack)
    await expectRefused(browser, await signIn(browser), 'belongs to no user of the console')
  })

  test('with one address that sign in at the same time: one is linked', async () => {
    const email = await createNewUser(stack, tenant)
    const browsers = [openTestBrowser(stack), openTestBrowser(stack)]
    const returns: URL[] = []
    for (const browser of browsers) {
      use(email)
      const left = await leave(browser, await browser.load('/console/sign-in'))
      returns.push(await travel(left.href))
    }
    await Promise.all(browsers.map((browser, at) => comeBack(browser, returns[at]!)))
    const signedIn = await Promise.all(browsers.map((browser) => browser.me()))
    expect(signedIn.filter((each) => each !== undefined)).toHaveLength(1)
  })

  test('sign nobody in after the user was removed', async () => {
    const email = await createNewUser(stack, tenant, 'member')
    use(email)
    const browser = openTestBrowser(stack)
    await signIn(browser)
    await stack.database.control`delete from console_users where email = ${email}`
    expect(await browser.me()).toBeUndefined()
    await expectRefused(browser, await signIn(browser), 'belongs to no user of the console')
  })
})

describe('refuses', () => {
  test('an account without a user', async () => {
    use('stranger@example.com')
    const browser = openTestBrowser(stack)
    await expectRefused(browser, await signIn(browser), 'belongs to no user of the console')
  })

  test.each([
    ['an address that is not verified', { email_verified: false }],
    ['an address of which the issuer says nothing', { email_verified: undefined }],
    ['no address', { email: undefined }],
  ])('%s', async (_name, claims) => {
    use(await createNewUser(stack, tenant), claims)
    const browser = openTestBrowser(stack)
    await expectRefused(browser, await signIn(browser), 'is not verified')
  })

  test.each(['nonce', 'code_challenge'])('a response to another %s', async (parameter) => {
    use(await createNewUser(stack, tenant))
    const browser = openTestBrowser(stack)
    const address = await leave(browser, await browser.load('/console/sign-in'))
    address.searchParams.set(parameter, 'A'.repeat(43))
    const answer = await comeBack(browser, await travel(address.href))
    await expectRefused(browser, answer, 'The sign-in with Acme ID failed')
  })

  test('an ID token that the issuer has not signed', async () => {
    use(await createNewUser(stack, tenant))
    issuer.isForging = true
    const browser = openTestBrowser(stack)
    const answer = await signIn(browser)
    issuer.isForging = false
    await expectRefused(browser, answer, 'The sign-in with Acme ID failed')
  })

  test('the return of another browser, and a second return of the same one', async () => {
    use(await createNewUser(stack, tenant))
    const browser = openTestBrowser(stack)
    const left = await leave(browser, await browser.load('/console/sign-in'))
    const back = await travel(left.href)
    const thief = openTestBrowser(stack)
    await expectRefused(thief, await comeBack(thief, back), 'begun in another browser')
    expect(locationOf(await comeBack(browser, back))).toBe('/console')
    const again = await comeBack(browser, back)
    expect(locationOf(again)).toBe('/console/sign-in?notice=ended')
  })

  test('forms of other sites, and redirects to no address in a form', async () => {
    const email = await createNewUser(stack, tenant)
    use(email)
    const browser = openTestBrowser(stack)
    const page = await browser.load('/console/sign-in?next=//evil.example')
    const forged = await browser.submit('/console/sign-in/openid', { formToken: 'x' }, page)
    expect(forged.status).toBe(403)
    const left = await leave(browser, page, { next: 'https://evil.example', cli: '//evil.example' })
    const answer = await comeBack(browser, await travel(left.href))
    expect(locationOf(answer)).toBe('/console')
  })

  test('forged returns above the limit of the network, without asking the issuer', async () => {
    const browser = openTestBrowser(stack)
    const answers: (string | null)[] = []
    for (let tries = 0; tries <= 20; tries += 1) {
      const fields = new URLSearchParams({ state: 'a', browserToken: 'b' })
      browser.cookies.set('tollgate_console_openid', encodeURIComponent(fields.toString()))
      const answer = await browser.load('/console/sign-in/openid/callback?state=a&code=x', {
        headers: { 'x-forwarded-for': '198.51.100.7' },
      })
      answers.push(new URL(locationOf(answer) ?? '', hosted).searchParams.get('notice'))
    }
    expect(answers).toEqual([...Array<string>(20).fill('failed'), 'wait'])
  })

  test.each(['broken', 'hanging'] as const)('while the issuer is %s, and says so', async (mode) => {
    use(await createNewUser(stack, tenant))
    const browser = openTestBrowser(stack)
    const left = await leave(browser, await browser.load('/console/sign-in'))
    const back = await travel(left.href)
    issuer.mode = mode
    const answer = await comeBack(browser, back)
    issuer.mode = 'up'
    await expectRefused(browser, answer, 'The sign-in with Acme ID failed')
  })

  test('a person who declined at the issuer', async () => {
    const browser = openTestBrowser(stack)
    const left = await leave(browser, await browser.load('/console/sign-in?next=/console/live'))
    const query = { error: 'access_denied', state: left.searchParams.get('state')! }
    const back = new URL(`${callback}?${new URLSearchParams(query).toString()}`)
    await expectRefused(browser, await comeBack(browser, back), 'You did not sign in with Acme ID')
  })
})

test('signs in accounts of the configured domain only', async () => {
  const domain = { TOLLGATE_CONSOLE_OPENID_DOMAIN: 'Example.com' }
  const strict = await startConsoleStack({ ...settingsOf(issuer), ...domain })
  try {
    const own = await strict.createTenant()
    const email = await createNewUser(strict, own)
    const guest = 'guest@example.net'
    await createUser(strict, own, guest)
    use(email)
    const browser = openTestBrowser(strict)
    await signIn(browser)
    expect((await browser.me())?.user.email).toBe(email)
    use(guest)
    const other = openTestBrowser(strict)
    await expectRefused(other, await signIn(other), 'not of your company')
  } finally {
    await strict.stop()
  }
})

test('reads the address from the UserInfo endpoint, and trusts it if configured', async () => {
  const thin = await FakeOpenid.start(callback, { isThin: true })
  const settings = { ...settingsOf(thin), TOLLGATE_CONSOLE_OPENID_EMAILS: 'all' }
  const trusting = await startConsoleStack(settings)
  try {
    const email = await createNewUser(trusting, await trusting.createTenant())
    thin.account = { sub: 'thin', email }
    const browser = openTestBrowser(trusting)
    await signIn(browser)
    expect((await browser.me())?.user.email).toBe(email)
    thin.account = { sub: 'other', email, email_verified: false }
    const other = openTestBrowser(trusting)
    await expectRefused(other, await signIn(other), 'is not verified')
  } finally {
    await trusting.stop()
    await thin.stop()
  }
})
