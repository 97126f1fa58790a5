import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { jobActor } from '@tollgate/domain/audit/actor'
import { issuePasswordLink } from '@tollgate/domain/console/manage-users'
import type { SignedInBody } from '@tollgate/schemas/http/console-auth'
import { createUser, inviteByOperator, password, quickPasswords } from './console-user.ts'
import { startTestStack, type Tenant, type TestStack } from './test-stack.ts'

/* Limits for guessed passwords: 3 attempts for an email address, and 6 from one network address. */

let stack: TestStack
let tenant: Tenant
let count = 0

beforeAll(async () => {
  stack = await startTestStack({
    settings: {
      ...quickPasswords,
      TOLLGATE_CONSOLE_SIGN_INS_PER_EMAIL_MAX: '3',
      TOLLGATE_CONSOLE_SIGN_INS_PER_ADDRESS_MAX: '6',
    },
  })
})
afterAll(() => stack.stop())
beforeEach(async () => {
  stack.clock.set('2026-03-01T00:00:00Z')
  tenant = await stack.createTenant()
  await stack.database.control`delete from sign_in_attempts`
})

function freshEmail(): string {
  count += 1
  return `person${count}@example.com`
}

function trySignIn(email: string, given: string, address = '198.51.100.1', more: object = {}) {
  return stack.callRaw<SignedInBody>(undefined, 'POST', '/v1/ui/auth/sign-in', {
    body: JSON.stringify({ email, password: given, ...more }),
    headers: { 'x-forwarded-for': address },
  })
}

test('stops guesses for an email address, also concurrent ones, and says how long to wait', async () => {
  const email = freshEmail()
  await createUser(stack, tenant, email)
  const guesses = Array.from({ length: 6 }, () => trySignIn(email, 'wrong password'))
  const statuses = (await Promise.all(guesses)).map(({ status }) => status).sort()
  expect(statuses).toEqual([401, 401, 401, 429, 429, 429])
  const refused = await trySignIn(email.toUpperCase(), password, '198.51.100.9')
  expect(refused.status).toBe(429)
  expect(refused.headers.get('retry-after')).toBe('900')
  stack.clock.set('2026-03-01T00:15:00Z')
  expect((await trySignIn(email, password)).status).toBe(200)
})

test('keeps counting guesses after a restart', async () => {
  const email = freshEmail()
  await createUser(stack, tenant, email)
  for (let guess = 0; guess < 3; guess += 1) await trySignIn(email, 'wrong password')
  const successor = stack.createService()
  await successor.start()
  const url = `http://127.0.0.1:${successor.port}/v1/ui/auth/sign-in`
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, password }),
  })
  await successor.stop()
  expect(response.status).toBe(429)
})

test('stops guesses from one network address for all users, and for no other address', async () => {
  const email = freshEmail()
  await createUser(stack, tenant, email)
  for (let guess = 0; guess < 6; guess += 1) {
    expect((await trySignIn(freshEmail(), password, '198.51.100.7')).status).toBe(401)
  }
  expect((await trySignIn(email, password, '198.51.100.7')).status).toBe(429)
  expect((await trySignIn(email, password, '198.51.100.8')).status).toBe(200)
})

test('keeps the count of guesses after another user with the same email address signs in', async () => {
  const email = freshEmail()
  const other = await stack.createTenant()
  await createUser(stack, tenant, email)
  const { token } = await inviteByOperator(stack, other, email)
  const known = 'known to the guesser'
  await stack.call(undefined, 'POST', '/v1/ui/auth/password', { token, password: known })
  const guess = async () => (await trySignIn(email, 'wrong password')).status
  const { providerId } = other
  const knowing = async () => (await trySignIn(email, known, '198.51.100.6', { providerId })).status
  expect([await guess(), await guess(), await knowing(), await knowing()]).toEqual([
    401, 401, 200, 200,
  ])
  expect([await guess(), await guess(), await knowing()]).toEqual([401, 429, 429])
})

test('counts the password of one user as a guess for the others with that email address', async () => {
  const email = freshEmail()
  const { providerId } = await stack.createTenant()
  await createUser(stack, tenant, email)
  const userId = await createUser(stack, { providerId }, email)
  const now = new Date(stack.clock.now())
  const { database } = stack
  const actor = jobActor('test')
  const management = { database, providerId, actorId: undefined, actor, now }
  for (const guess of ['first guess', 'second guess', 'third guess']) {
    const outcome = await issuePasswordLink(management, userId, 3_600_000)
    const link = outcome.kind === 'linked' ? outcome.link : undefined
    const given = { token: link?.token, password: guess }
    await stack.call(undefined, 'POST', '/v1/ui/auth/password', given)
    expect((await trySignIn(email, guess)).status).toBe(200)
  }
  expect((await trySignIn(email, 'third guess')).status).toBe(429)
})

test('counts all addresses of an IPv6 network as one', async () => {
  for (let guess = 0; guess < 6; guess += 1) {
    const place = `2001:db8:0:1::${guess}`
    expect((await trySignIn(freshEmail(), password, place)).status).toBe(401)
  }
  expect((await trySignIn(freshEmail(), password, '2001:db8:0:1:f::1')).status).toBe(429)
  expect((await trySignIn(freshEmail(), password, '2001:db8:0:2::1')).status).toBe(401)
})

test('does not use up attempts of an account with guesses that were stopped', async () => {
  const email = freshEmail()
  await createUser(stack, tenant, email)
  for (let guess = 0; guess < 6; guess += 1) await trySignIn(freshEmail(), password, '2001:db8::')
  for (let guess = 0; guess < 6; guess += 1) {
    expect((await trySignIn(email, 'wrong password', '2001:db8::')).status).toBe(429)
  }
  const own = [await trySignIn(email, 'a typo'), await trySignIn(email, 'a typo')]
  own.push(await trySignIn(email, password), await trySignIn(email, 'a typo'))
  own.push(await trySignIn(email, password))
  expect(own.map(({ status }) => status)).toEqual([401, 401, 200, 401, 429])
})

test('never stops users who know their password', async () => {
  const email = freshEmail()
  await createUser(stack, tenant, email)
  for (let time = 0; time < 8; time += 1) {
    expect((await trySignIn(email, password, '198.51.100.5')).status).toBe(200)
  }
})

function signInFrom(browser: string | undefined, email: string, given: string, address: string) {
  return stack.callRaw<SignedInBody>(undefined, 'POST', '/v1/ui/auth/sign-in', {
    body: JSON.stringify({ email, password: given }),
    headers: { 'x-forwarded-for': address, ...(browser !== undefined && { cookie: browser }) },
  })
}

/** Returns the cookie of a sign-in, as a browser sends it back. */
async function knownBrowser(email: string): Promise<string> {
  const { status, headers } = await signInFrom(undefined, email, password, '198.51.100.77')
  expect(status).toBe(200)
  const [cookie = ''] = headers.getSetCookie()
  expect(cookie).toMatch(
    /^tollgate_browser=[\w-]{43}; Path=\/v1\/ui\/auth; Max-Age=15552000; HttpOnly; SameSite=Strict$/,
  )
  return cookie.split(';', 1)[0]!
}

test('signs in a known browser while guesses from its address have used up the limits', async () => {
  const email = freshEmail()
  await createUser(stack, tenant, email)
  const browser = await knownBrowser(email)
  const address = '198.51.100.2'
  for (let guess = 0; guess < 8; guess += 1) await trySignIn(email, 'wrong password', address)
  expect((await trySignIn(email, password, address)).status).toBe(429)
  const known = await signInFrom(browser, email, password, address)
  expect(known.status).toBe(200)
  // The browser is already known, so it gets no new cookie.
  expect(known.headers.getSetCookie()).toEqual([])
})

test('limits guesses from a known browser, and knows a browser for one account only', async () => {
  const [email, other] = [freshEmail(), freshEmail()]
  await createUser(stack, tenant, email)
  await createUser(stack, tenant, other)
  const browser = await knownBrowser(email)
  const statuses: number[] = []
  for (let guess = 0; guess < 4; guess += 1) {
    statuses.push((await signInFrom(browser, email, 'wrong password', '198.51.100.3')).status)
  }
  expect(statuses).toEqual([401, 401, 401, 429])
  expect((await signInFrom(undefined, email, password, '198.51.100.4')).status).toBe(200)
  for (let guess = 0; guess < 3; guess += 1) {
    await signInFrom(undefined, other, 'wrong password', '198.51.100.5')
  }
  expect((await signInFrom(browser, other, password, '198.51.100.6')).status).toBe(429)
})

test('forgets a browser after its time, and ignores a forged cookie', async () => {
  const email = freshEmail()
  await createUser(stack, tenant, email)
  const browser = await knownBrowser(email)
  const madeUp = `tollgate_browser=${'a'.repeat(43)}`
  stack.clock.set('2026-08-28T00:00:00Z')
  for (let guess = 0; guess < 3; guess += 1) await trySignIn(email, 'wrong password')
  expect((await signInFrom(madeUp, email, password, '198.51.100.7')).status).toBe(429)
  expect((await signInFrom(browser, email, password, '198.51.100.7')).status).toBe(429)
})
