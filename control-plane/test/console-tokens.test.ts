import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Queryable } from '@tollgate/platform/database/database'
import type { SignedInBody } from '@tollgate/schemas/http/console-auth'
import { createUser, password, quickPasswords, signIn } from './console-user.ts'
import { startTestStack, type TestStack } from './test-stack.ts'

/* A change that ends a user's tokens must also end tokens requested at the same moment. */

let stack: TestStack
let email: string
let userId: string
let token: string

beforeAll(async () => {
  stack = await startTestStack({ settings: quickPasswords })
})
afterAll(() => stack.stop())
beforeEach(async () => {
  email = `person${Math.random()}@example.com`
  userId = await createUser(stack, await stack.createTenant(), email)
  token = (await signIn(stack, email)).accessToken
})

/**
 * Runs `end` in a transaction that commits only when the request waits for it. The request has read the state from before the
 * change.
 */
async function whileUncommitted<Answer>(
  end: (sql: Queryable) => Promise<unknown>,
  request: () => Promise<Answer>,
): Promise<Answer> {
  return await stack.database.control
    .begin(async (sql) => {
      await sql`select 1 from console_users where user_id = ${userId} for no key update`
      await end(sql)
      const [own] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`
      const answer = request()
      while (!(await isBlocking(own!.pid))) await setTimeout(5)
      return { answer }
    })
    .then(({ answer }) => answer)
}

async function isBlocking(pid: number): Promise<boolean> {
  const waiting = await stack.database.control`
    select 1 from pg_stat_activity where ${pid} = any(pg_blocking_pids(pid))`
  return waiting.length > 0
}

const endTokens = (sql: Queryable) => sql`delete from access_tokens where user_id = ${userId}`
const changeHash = (sql: Queryable) => sql`
  update console_users set password_hash = password_hash || 'x' where user_id = ${userId}`

async function tokensLeft(): Promise<number> {
  const rows = await stack.database.control`select 1 from access_tokens where user_id = ${userId}`
  return rows.length
}

test('ends a token for the other environment that is requested while the user signs out', async () => {
  const { status } = await whileUncommitted(endTokens, () =>
    stack.call(token, 'POST', '/v1/ui/auth/environment', { environment: 'live' }),
  )
  expect([status, await tokensLeft()]).toEqual([401, 0])
})

test('refuses a sign-in if the password is changed during the request', async () => {
  const { status } = await whileUncommitted(
    async (sql) => {
      await changeHash(sql)
      await endTokens(sql)
    },
    () => stack.call(undefined, 'POST', '/v1/ui/auth/sign-in', { email, password }),
  )
  expect([status, await tokensLeft()]).toEqual([401, 0])
})

test('refuses a password change if the password is changed during the request', async () => {
  const given = { currentPassword: password, newPassword: 'another password' }
  const { status } = await whileUncommitted(changeHash, () =>
    stack.call(token, 'PUT', '/v1/ui/auth/password', given),
  )
  expect([status, await tokensLeft()]).toEqual([400, 1])
})

test('leaves no token valid after concurrent sign-outs and token requests', async () => {
  const ask = () =>
    stack.call<SignedInBody>(token, 'POST', '/v1/ui/auth/environment', { environment: 'live' })
  const answers = await Promise.all([
    ask(),
    ask(),
    stack.call(token, 'POST', '/v1/ui/auth/sign-out'),
    ask(),
  ])
  expect(answers[2].status).toBe(200)
  expect(await tokensLeft()).toBe(0)
})
