import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { apiKeyDocumentKey } from '@tollgate/schemas/hot-state/documents'
import type { CliSessionExchangeBody } from '@tollgate/schemas/http/cli-sessions'
import { sha256OfSecretKey } from '@tollgate/domain/api-keys/secret-key'
import { createUser, quickPasswords, signIn } from './console-user.ts'
import { startTestStack, type Tenant, type TestStack } from './test-stack.ts'
import { runUntilKilled } from './run-until-killed.ts'

/* A command line requests a key, a signed-in user approves it, and the command line fetches the key once. */

type Opened = { sessionId: string; authUrl: string; pollToken: string; userCode: string }

const path = '/v1/ui/provider/auth/cli-init/sessions'
let stack: TestStack
let tenant: Tenant
let token: string
let count = 0

beforeAll(async () => {
  stack = await startTestStack({
    settings: {
      ...quickPasswords,
      TOLLGATE_PUBLISH_INTERVAL_MS: '3600000',
    },
  })
})
afterAll(() => stack.stop())
beforeEach(async () => {
  stack.clock.set('2026-03-01T00:00:00Z')
  tenant = await stack.createTenant()
  token = await signedIn('admin')
})

async function signedIn(role: 'admin' | 'member'): Promise<string> {
  count += 1
  const email = `${role}${count}@example.com`
  await createUser(stack, tenant, email, role)
  return (await signIn(stack, email)).accessToken
}

async function open(): Promise<Opened> {
  count += 1
  const { status, body } = await stack.callRaw<Opened>(undefined, 'POST', path, {
    headers: { 'x-forwarded-for': `198.51.100.${count}` },
  })
  expect(status).toBe(201)
  return body
}

async function exchange({ sessionId, pollToken }: Opened): Promise<CliSessionExchangeBody> {
  const at = `${path}/${sessionId}/exchange`
  const { status, body } = await stack.call<CliSessionExchangeBody>(pollToken, 'POST', at)
  expect(status).toBe(200)
  return body
}

async function answer({ sessionId }: Opened, how: 'complete' | 'cancel', as = token) {
  const body = how === 'complete' ? { environment: 'live' } : undefined
  return (await stack.call(as, 'POST', `${path}/${sessionId}/${how}`, body)).status
}

test('creates a key in the chosen environment and returns it once', async () => {
  const opened = await open()
  expect(opened.authUrl).toMatch(new RegExp(`/console/cli/${opened.sessionId}$`))
  expect(opened.userCode.replace('-', '').toLowerCase()).toBe(opened.sessionId.slice(-8))
  expect(await exchange(opened)).toEqual({ status: 'pending' })
  expect(await answer(opened, 'complete')).toBe(200)
  const exchanged = await exchange(opened)
  const { secretKey = '', email, ...rest } = exchanged
  expect(email).toMatch(/^admin\d+@example.com$/)
  expect(rest).toEqual({ status: 'complete', environment: 'live' })
  expect(secretKey).toMatch(/^sk_live_/)
  expect((await stack.call(secretKey, 'GET', '/v1/sdk/products')).status).toBe(200)
  const again = await exchange(opened)
  expect(again).toMatchObject({ status: 'complete', warning: expect.any(String) as unknown })
  expect(again).not.toHaveProperty('secretKey')
})

test('keeps the secret encrypted until it is fetched, and returns it to one of two concurrent requests', async () => {
  const opened = await open()
  await answer(opened, 'complete')
  const kept = JSON.stringify(await stack.database.control`select * from cli_session_outcomes`)
  expect(kept).not.toContain('sk_live_')
  const exchanged = await Promise.all([exchange(opened), exchange(opened), exchange(opened)])
  expect(exchanged.filter(({ secretKey }) => secretKey !== undefined).length).toBe(1)
  const text = JSON.stringify(await stack.database.control`select * from cli_sessions`)
  expect(text).not.toContain(opened.pollToken)
})

test('keeps the first of two answers and creates no second key', async () => {
  const opened = await open()
  const statuses = await Promise.all([answer(opened, 'complete'), answer(opened, 'complete')])
  expect(statuses.sort()).toEqual([200, 409])
  expect(await answer(opened, 'cancel')).toBe(409)
  const keys = await stack.database.control`
    select from api_keys where provider_id = ${tenant.providerId}`
  expect(keys.length).toBe(3)
})

test('issues no key for a cancelled session', async () => {
  const opened = await open()
  expect(await answer(opened, 'cancel')).toBe(200)
  expect(await exchange(opened)).toEqual({ status: 'cancelled' })
  expect(await answer(opened, 'complete')).toBe(409)
})

test('expires a session after 10 minutes, answered or not', async () => {
  const [unanswered, fetched] = [await open(), await open()]
  await answer(fetched, 'complete')
  stack.clock.set('2026-03-01T00:10:00Z')
  expect(await exchange(unanswered)).toEqual({ status: 'expired' })
  expect(await exchange(fetched)).toEqual({ status: 'expired' })
  expect(await answer(unanswered, 'complete')).toBe(404)
})

test('refuses to exchange with the token of another session', async () => {
  const [one, other] = [await open(), await open()]
  await answer(one, 'complete')
  const refused = [
    [one.sessionId, other.pollToken],
    [one.sessionId, undefined],
    [one.sessionId, token],
    ['0'.repeat(32), one.pollToken],
  ] as const
  for (const [sessionId, given] of refused) {
    const { status } = await stack.call(given, 'POST', `${path}/${sessionId}/exchange`)
    expect(status).toBe(401)
  }
})

test('refuses answers from secret keys and members', async () => {
  const opened = await open()
  for (const as of [tenant.liveKey, tenant.sandboxKey, await signedIn('member')]) {
    expect(await answer(opened, 'complete', as)).toBe(403)
    expect(await answer(opened, 'cancel', as)).toBe(403)
  }
})

test('limits the open sessions of one network address', async () => {
  const openFrom = async () => {
    const headers = { 'x-forwarded-for': '203.0.113.1' }
    return (await stack.callRaw(undefined, 'POST', path, { headers })).status
  }
  const statuses = await Promise.all(Array.from({ length: 25 }, openFrom))
  expect(statuses.filter((status) => status === 201).length).toBe(20)
  expect(statuses.filter((status) => status === 429).length).toBe(5)
  stack.clock.set('2026-03-01T00:10:00Z')
  expect(await openFrom()).toBe(201)
})

test('returns a key whose process died before publishing it', async () => {
  // The process that is killed uses the real time.
  stack.clock.set(new Date().toISOString())
  token = await signedIn('admin')
  const opened = await open()
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ environment: 'sandbox' })
  await runUntilKilled(stack, { moment: 'before', write: 0 }, [], (port) =>
    fetch(`http://127.0.0.1:${port}${path}/${opened.sessionId}/complete`, {
      method: 'POST',
      headers,
      body,
    }),
  )

  const { status, secretKey = '' } = await exchange(opened)
  expect({ status, secretKey }).toMatchObject({ status: 'complete' })
  const documentKey = apiKeyDocumentKey(sha256OfSecretKey(secretKey))
  expect(await stack.hotState.readDocument(documentKey)).toBeUndefined()
  const successor = stack.createService()
  await successor.start()
  await successor.stop()
  expect(await stack.hotState.readDocument(documentKey)).toContain(tenant.providerId)
})
