import { createHmac } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { get } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ConsoleRole } from '@tollgate/schemas/console-roles'
import {
  createNewUser,
  openSignedIn,
  openTestBrowser,
  signIn,
  startConsoleStack,
  type Page,
} from './console-browser.ts'
import { createUser, inviteByOperator, password } from './console-user.ts'
import type { Tenant, TestStack } from './test-stack.ts'

/* The pages at `/console/...`, as a browser without scripts uses them. */

let stack: TestStack
let tenant: Tenant
let count = 0

beforeAll(async () => {
  stack = await startConsoleStack()
})
afterAll(() => stack.stop())
beforeEach(async () => {
  stack.clock.set('2026-03-01T00:00:00Z')
  tenant = await stack.createTenant()
})

const newUser = (role?: ConsoleRole) => createNewUser(stack, tenant, role)
const signedIn = (role?: ConsoleRole) => openSignedIn(stack, tenant, role)

async function openCliSession(): Promise<{ sessionId: string; pollToken: string }> {
  count += 1
  const { body } = await stack.callRaw<{ sessionId: string; pollToken: string }>(
    undefined,
    'POST',
    '/v1/ui/provider/auth/cli-init/sessions',
    { headers: { 'user-agent': 'acme-cli <b>', 'x-forwarded-for': `198.51.100.${count}` } },
  )
  return body
}

async function exchange(of: { sessionId: string; pollToken: string }): Promise<unknown> {
  const path = `/v1/ui/provider/auth/cli-init/sessions/${of.sessionId}/exchange`
  return (await stack.call(of.pollToken, 'POST', path)).body
}

describe('signing in', () => {
  test('opens the console with a cookie that scripts cannot read, and signs out', async () => {
    const browser = openTestBrowser(stack)
    const email = await newUser()
    expect((await browser.load('/console')).headers.get('location')).toBe('/console/sign-in')
    const answer = await signIn(browser, email)
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/console'])
    const cookie = answer.headers.getSetCookie().find((line) => line.includes('tollgate_console='))
    expect(cookie).toMatch(/; Path=\/console; HttpOnly; Secure; SameSite=Lax$/)
    const ofApi = answer.headers
      .getSetCookie()
      .find((line) => line.startsWith('tollgate_console_api'))
    expect(ofApi).toMatch(
      /^tollgate_console_api=.*; Path=\/v1\/ui; HttpOnly; Secure; SameSite=Strict$/,
    )
    const home = await browser.load('/console')
    expect(await browser.me()).toMatchObject({
      user: { email },
      provider: { providerId: tenant.providerId, name: 'Acme', isLive: true },
    })
    expect(home.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(home.headers.get('cache-control')).toBe('no-store')

    const stolen = browser.cookies.get('tollgate_console') ?? ''
    await browser.submitSignedIn('/console/sign-out', {})
    browser.cookies.set('tollgate_console', stolen)
    expect((await browser.load('/console')).status).toBe(303)
    expect(await browser.me()).toBeUndefined()
  })

  test('refuses requests of a page that was loaded for another user', async () => {
    const browser = await signedIn()
    const me = await browser.me()
    const load = (userId: string): Promise<Page> =>
      browser.load('/v1/ui/auth/me', {
        headers: { 'tollgate-environment': 'sandbox', 'tollgate-user': userId },
      })
    expect((await load(me!.user.userId)).status).toBe(200)
    expect((await load('usr_another')).status).toBe(401)
  })

  test('refuses a wrong password, and guesses above the limit of the API', async () => {
    const email = await newUser()
    const browser = openTestBrowser(stack)
    const statuses: number[] = []
    for (let guess = 0; guess < 4; guess += 1) {
      statuses.push((await signIn(browser, email, { password: 'wrong password' })).status)
    }
    expect(statuses).toEqual([401, 401, 401, 429])
    const refused = await signIn(browser, email)
    expect(refused.headers.get('retry-after')).toBe('900')
    expect(refused.text).toContain('Try again in 15 minutes.')
    expect(refused.text).not.toContain(password)
  })

  test('asks a user of several providers to choose one', async () => {
    const email = await newUser()
    const other = await stack.createTenant()
    await createUser(stack, other, email)
    const browser = openTestBrowser(stack)
    const choice = await signIn(browser, email)
    expect([choice.status, choice.text.match(/<option /g)?.length]).toEqual([200, 2])
    const { providerId } = other
    await browser.submit('/console/sign-in', { email, password, providerId }, choice)
    expect((await browser.me())?.provider.providerId).toBe(providerId)
  })

  test('refuses forms of other sites, and redirects to no address in a link', async () => {
    const email = await newUser()
    const browser = openTestBrowser(stack)
    const page = await browser.load('/console/sign-in?cli=https://evil.example&next=//evil.example')
    expect(page.text).not.toContain('evil')
    const fields = { email, password, cli: '//evil.example', next: 'https://evil.example' }
    const forged = await browser.submit('/console/sign-in', { ...fields, formToken: 'x' }, page)
    expect(forged.status).toBe(403)
    const answer = await browser.submit('/console/sign-in', fields, page)
    expect(answer.headers.get('location')).toBe('/console')
  })
})

test('ignores a forged form in the cookie', async () => {
  const browser = openTestBrowser(stack)
  const page = await browser.load('/console/sign-in')
  const [, formToken = ''] = /name="formToken" value="([^"]+)"/.exec(page.text) ?? []
  for (const made of ['null', '{"fields":{"email":{}},"text":null}', '{']) {
    const json = Buffer.from(made).toString('base64url')
    const signature = createHmac('sha256', formToken).update(`kept x ${json}`).digest('base64url')
    browser.cookies.set('form', `x.${json}.${signature}`)
    const answer = await browser.load('/console/sign-in?kept=x')
    expect([answer.status, answer.text.includes('Your password is set.')]).toEqual([200, false])
  }
})

describe('setting a password', () => {
  test('accepts the pasted link once, and asks again for invalid fields', async () => {
    const email = `invited${(count += 1)}@example.com`
    const { token } = await inviteByOperator(stack, tenant, email)
    const browser = openTestBrowser(stack)
    const page = await browser.load('/console/set-password')
    const link = `https://pay.acme.example/console/set-password#token=${token}`
    const send = (given: string, repeated = given, of = link): Promise<Page> =>
      browser.submit('/console/set-password', { link: of, password: given, repeated }, page)
    expect((await send('short')).text).toContain('Choose a password of')
    expect((await send(password, 'another password')).text).toContain('passwords differ')
    expect((await send(password, password, link.slice(0, -1))).text).toContain('cut off')
    const set = await send(password)
    expect(set.headers.get('location')).toMatch(/^\/console\/sign-in\?kept=/)
    const next = await browser.load(set.headers.get('location')!)
    expect(next.text).toContain('Your password is set.')
    expect(next.text).toContain(email)
    expect((await send(password)).status).toBe(410)
    expect((await signIn(openTestBrowser(stack), email)).status).toBe(303)
  })
})

describe('approving a CLI session', () => {
  test('asks for a sign-in, shows the device, and issues the key once', async () => {
    const session = await openCliSession()
    const path = `/console/cli/${session.sessionId}`
    const browser = openTestBrowser(stack)
    const signInPath = (await browser.load(path)).headers.get('location')!
    expect(signInPath).toBe(`/console/sign-in?cli=${session.sessionId}`)
    const form = await browser.load(signInPath)
    const given = { email: await newUser('admin'), password, cli: session.sessionId }
    const answer = await browser.submit('/console/sign-in', given, form)
    expect(answer.headers.get('location')).toBe(path)
    const page = await browser.load(path)
    const code = session.sessionId.slice(-8).toUpperCase()
    const shown = ['acme-cli &lt;b&gt;', `198.51.100.${count}`, `${code.slice(0, 4)}-`]
    for (const text of shown) expect(page.text).toContain(text)
    const fields = { environment: 'live' }
    expect(
      (await browser.submit(`${path}/approve`, { ...fields, formToken: '' }, page)).status,
    ).toBe(403)
    expect(await exchange(session)).toEqual({ status: 'pending' })
    expect((await browser.submit(`${path}/approve`, fields, page)).text).toContain('Approved')
    expect(await exchange(session)).toMatchObject({
      status: 'complete',
      secretKey: expect.stringMatching(/^sk_live_/) as unknown,
    })
    const entries = await stack.database.control`
      select actor, operation from audit_log
      where provider_id = ${tenant.providerId} and kind = 'api_keys' order by id desc limit 1`
    expect(entries).toMatchObject([
      {
        actor: expect.stringMatching(/^user:usr_/) as unknown,
        operation: 'POST /console/cli/:sessionId/approve',
      },
    ])
    expect((await browser.submit(`${path}/approve`, fields, page)).status).toBe(410)
    expect((await browser.load(path)).status).toBe(410)
  })

  test('declines, and expires with its link', async () => {
    const browser = await signedIn()
    const [declined, late] = [await openCliSession(), await openCliSession()]
    const page = await browser.load(`/console/cli/${declined.sessionId}`)
    await browser.submit(`/console/cli/${declined.sessionId}/decline`, {}, page)
    expect(await exchange(declined)).toEqual({ status: 'cancelled' })
    stack.clock.set('2026-03-01T00:10:00Z')
    expect((await browser.load(`/console/cli/${late.sessionId}`)).status).toBe(410)
    const missing = await browser.load(`/console/cli/${'0'.repeat(32)}`)
    expect([missing.status, missing.headers.get('content-type')]).toEqual([
      404,
      'text/html; charset=utf-8',
    ])
  })

  test('responds to an unknown session with 404, and to a forged form in the same way', async () => {
    const browser = await signedIn()
    for (const sessionId of ['%00', '%ED%A0%80', 'x', 'A'.repeat(32)]) {
      const path = `/console/cli/${sessionId}`
      const answers = [
        await browser.load(path),
        await browser.submitSignedIn(`${path}/approve`, { environment: 'sandbox' }),
        await browser.submitSignedIn(`${path}/decline`, {}),
      ]
      const expected = sessionId.startsWith('%ED') ? 400 : 404
      expect(answers.map(({ status }) => status)).toEqual([expected, expected, expected])
    }
  })

  test('is refused to members', async () => {
    const browser = await signedIn('member')
    const { sessionId } = await openCliSession()
    const page = await browser.load(`/console/cli/${sessionId}`)
    expect([page.status, page.text.includes('owner or an admin')]).toEqual([403, true])
    const fields = { environment: 'sandbox' }
    const forced = await browser.submitSignedIn(`/console/cli/${sessionId}/approve`, fields)
    expect(forced.status).toBe(403)
  })
})

describe('the start page and unknown paths', () => {
  test('are pages for browsers, and API responses for programs', async () => {
    const browser = openTestBrowser(stack)
    const start = await browser.load('/')
    expect(start.status).toBe(200)
    expect(start.text).toContain('https://pay.acme.example/v1/sdk/usages')
    expect(start.text).not.toMatch(/sk_(sandbox|live)_[0-9A-Za-z]/)
    const unknown = await browser.load('/nowhere')
    expect([unknown.status, unknown.headers.get('content-type')]).toEqual([
      404,
      'text/html; charset=utf-8',
    ])
    const html = { accept: 'text/html' }
    for (const [method, path, headers] of [
      ['GET', '/', { accept: '*/*' }],
      ['GET', '/nowhere', { accept: '*/*' }],
      ['GET', '/', { ...html, authorization: `Bearer ${tenant.sandboxKey}` }],
      ['GET', '/nowhere', { ...html, 'x-api-key': tenant.sandboxKey }],
      ['POST', '/nowhere', html],
      ['POST', '/demo/portal', html],
    ] as const) {
      const answer = await browser.load(path, { method, headers })
      expect(JSON.parse(answer.text)).toEqual({
        statusCode: 404,
        error: 'Not Found',
        message: `Cannot ${method} ${path}`,
        code: 'route_not_found',
        requestId: answer.headers.get('x-request-id'),
      })
      expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
    }
  })
})

describe('the demo on the start page', () => {
  /**
   * Starts a service whose demo file has this content, or that has no demo file if it is null. `read` returns what `/` shows to a
   * browser of this machine.
   */
  const openDemo = async (
    content: string | null,
    demoFile = join(stack.folder, `demo${(count += 1)}.json`),
  ) => {
    if (content !== null) await writeFile(demoFile, content)
    const service = stack.createService({ TOLLGATE_DEMO_FILE: demoFile })
    await service.start()
    const read = (headers: Record<string, string> = {}) =>
      new Promise<{ status: number | undefined; html: string }>((resolve, reject) => {
        const url = `http://127.0.0.1:${service.port}/`
        get(url, { agent: false, headers: { accept: 'text/html', ...headers } }, (response) => {
          const { statusCode: status } = response
          text(response).then((html) => resolve({ status, html }), reject)
        }).on('error', reject)
      })
    return { read, stop: () => service.stop() }
  }

  const demoOf = (sandboxKey: string): string =>
    JSON.stringify({
      sandboxKey,
      productRef: 'prd_1',
      meterRef: 'requests',
      customer: { name: 'Ada', reference: 'cus_1' },
      healthUrls: {},
    })

  test('shows the key only under a loopback name, whatever host a request forwards, until it expires', async () => {
    const { sandboxKey, providerId } = tenant
    const { read, stop } = await openDemo(demoOf(sandboxKey))
    const shows = async (headers?: Record<string, string>): Promise<boolean> =>
      (await read(headers)).html.includes(sandboxKey)
    expect(await shows()).toBe(true)
    expect(await shows({ host: 'localhost:8787' })).toBe(true)
    expect(await shows({ host: '[::1]:8787' })).toBe(true)
    // Ingest forwards the host name of its client's request.
    expect(await shows({ 'x-forwarded-for': '127.0.0.1', 'x-forwarded-host': 'localhost' })).toBe(
      true,
    )
    expect(await shows({ 'x-forwarded-host': 'rebound.example' })).toBe(false)
    const rebound = { host: 'rebound.example', 'x-forwarded-host': 'localhost' }
    expect(await shows(rebound)).toBe(false)
    await stack.database.control`
      update api_keys set expires_at = ${new Date('2026-03-01T00:00:01Z')}
      where provider_id = ${providerId} and environment = 'sandbox'`
    expect(await shows()).toBe(true)
    stack.clock.set('2026-03-01T00:00:01Z')
    expect(await shows()).toBe(false)
    await stop()
  })

  test.each([
    ['cut off', '{"sandboxKey":'],
    ['incomplete', '{}'],
    ['missing', null],
  ])('is omitted if its file is %s', async (_, content) => {
    const { read, stop } = await openDemo(content)
    const { status, html } = await read()
    expect(status).toBe(200)
    expect(html).toContain('First steps')
    await stop()
  })

  test('is omitted if its file cannot be read', async () => {
    // Reading a folder as a file fails for every user, including root.
    const { read, stop } = await openDemo(null, stack.folder)
    expect((await read()).status).toBe(200)
    await stop()
  })
})
