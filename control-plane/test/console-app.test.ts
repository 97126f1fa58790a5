import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ConsoleRole } from '@tollgate/schemas/console-roles'
import {
  createNewUser,
  openSignedIn,
  openTestBrowser,
  startConsoleStack,
} from './console-browser.ts'
import { password } from './console-user.ts'
import type { Tenant, TestStack } from './test-stack.ts'

/* The page of the console, its files, and its session at the API. */

let stack: TestStack
let tenant: Tenant

beforeAll(async () => {
  stack = await startConsoleStack()
})
afterAll(() => stack.stop())
beforeEach(async () => {
  stack.clock.set('2026-03-01T00:00:00Z')
  tenant = await stack.createTenant()
})

const newUser = () => createNewUser(stack, tenant)
const signedIn = (role?: ConsoleRole) => openSignedIn(stack, tenant, role)

describe('the console', () => {
  test('continues at the requested page after the sign-in, but never at another site', async () => {
    const email = await newUser()
    const browser = openTestBrowser(stack)
    const path = '/console/live/customers/cus_A1?page=2&search=a%40b.c'
    const location = (await browser.load(path)).headers.get('location')!
    expect(location).toBe(`/console/sign-in?next=${encodeURIComponent(path)}`)
    const page = await browser.load(location)
    const answer = await browser.submit('/console/sign-in', { email, password, next: path }, page)
    expect(answer.headers.get('location')).toBe(path)
    const others = [
      '//evil.example',
      'https://evil.example/console/live',
      '/console/live/\\evil',
      '/console/live//evil.example',
      '/console/sign-out',
      '/v1/ui/auth/me',
      `/console/live/${'a'.repeat(1_000)}`,
    ]
    for (const next of others) {
      const given = await openTestBrowser(stack).load(
        `/console/sign-in?next=${encodeURIComponent(next)}`,
      )
      expect(given.text, next).not.toContain('name="next"')
      const signedIn = openTestBrowser(stack)
      const form = await signedIn.load('/console/sign-in')
      const sent = await signedIn.submit('/console/sign-in', { email, password, next }, form)
      expect(sent.headers.get('location'), next).toBe('/console')
    }
  })

  test('is one page at all of its paths, whose files browsers keep', async () => {
    const browser = await signedIn()
    const nonces = new Set<string>()
    for (const path of ['/console', '/console/live', '/console/sandbox/invoices/inv_1?a=b']) {
      const page = await browser.load(path)
      expect([page.status, page.headers.get('cache-control')]).toEqual([200, 'no-store'])
      const [, nonce] = /style-src 'self' 'nonce-([^']+)'/.exec(
        page.headers.get('content-security-policy')!,
      )!
      expect(page.text).toContain(`nonce="${nonce}"`)
      nonces.add(nonce!)
      const files = [...page.text.matchAll(/"(\/console\/assets\/[^"]+\.(?:js|css))"/g)]
      expect(files.length).toBeGreaterThan(1)
      for (const [, file] of files) {
        const { status, headers } = await browser.load(file!)
        expect([status, headers.get('cache-control')]).toEqual([
          200,
          'public, max-age=31536000, immutable',
        ])
        expect(headers.get('content-type')).toMatch(/^text\/(javascript|css); charset=utf-8$/)
        expect(headers.get('content-encoding')).toBe('gzip')
      }
    }
    expect(nonces.size).toBe(3)
    for (const missing of ['nothing.js', '..%2Findex.html', '%00']) {
      expect((await browser.load(`/console/assets/${missing}`)).status).toBe(404)
    }
  })

  test('gives a signed-in browser the cookie for the API again', async () => {
    const browser = await signedIn()
    browser.cookies.delete('tollgate_console_api')
    expect(await browser.me()).toBeUndefined()
    await browser.load('/console')
    expect(await browser.me()).toBeDefined()
  })

  test('reads the API by its cookie in the environment that the header names', async () => {
    const browser = await signedIn('member')
    expect((await browser.me('sandbox'))?.environment).toBe('sandbox')
    expect((await browser.me('live'))?.environment).toBe('live')
    // Another site can have a form or an image request this, with neither the header nor permission to add it.
    expect((await browser.load('/v1/ui/customers')).status).toBe(401)
    const load = (path: string, environment: string, init: RequestInit = {}) =>
      browser.load(path, { ...init, headers: { 'tollgate-environment': environment } })
    expect((await load('/v1/ui/customers', 'staging')).status).toBe(401)
    expect((await load('/v1/ui/customers', 'live')).status).toBe(200)
    // Programs use keys.
    expect((await load('/v1/sdk/customers?email=a@b.c', 'live')).status).toBe(401)
    expect((await load('/v1/ui/api-keys', 'sandbox', { method: 'POST' })).status).toBe(403)
  })

  test('does not open the live environment of a provider that is not live', async () => {
    const browser = await signedIn()
    const sql = stack.database.control
    await sql`update providers set is_live = false where provider_id = ${tenant.providerId}`
    const headers = { 'tollgate-environment': 'live' }
    expect((await browser.load('/v1/ui/customers', { headers })).status).toBe(403)
    expect((await browser.me('live'))?.provider.isLive).toBe(false)
  })
})
