import { decodeJwt } from 'jose'
import { purgeCustomerAuth } from '@tollgate/domain/customer-auth/purge'
import type { Database } from '@tollgate/platform/database/database'
import { createPostgresDatabase } from '@tollgate/platform/database/postgres/postgres-database'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { startKillableControlPlane, type KillableControlPlane } from './killable-control-plane.ts'
import {
  authSettings,
  Browser,
  Caller,
  createWorld,
  drawPkce,
  startAuthStack,
  type World,
} from './customer-auth-world.ts'
import type { TestStack } from './test-stack.ts'

/*
 * Kills a control plane (-9) while one statement of a sign-in waits at a trigger in PostgreSQL. Earlier commits of the process
 * stay, and later statements never run. Then another process serves the same person and client.
 */

let stack: TestStack
let world: World
let caller: Caller
let owner: Database
let sql: ReturnType<Database['in']>
const processes: KillableControlPlane[] = []

beforeAll(async () => {
  stack = await startAuthStack()
  world = await createWorld(stack)
  caller = new Caller(stack, world)
  // Connect as the owner of the tables, who may add triggers.
  owner = createPostgresDatabase({ url: stack.databaseUrl, isOwner: true, poolMax: 3 })
  sql = owner.in('sandbox')
  await sql`
    create function wait_at_gate() returns trigger language plpgsql as $$
      begin perform pg_advisory_xact_lock(4711); return null; end $$`
})
afterEach(async () => {
  for (const controlPlane of processes.splice(0)) await controlPlane.kill()
})
afterAll(async () => {
  await owner.close()
  await stack.stop()
})

/** The statements at which a process is stopped, before other processes see their effect. */
const gates = {
  'answer of the person': ['update', 'oauth_records', 'Interaction'],
  code: ['insert', 'oauth_records', 'AuthorizationCode'],
  'access token': ['insert', 'oauth_access_tokens', undefined],
  'kept answer': ['insert', 'oauth_records', 'RefreshAnswer'],
} as const

/** Sends the request to a separate process, and kills that process while it waits at the gate. */
async function killAt(
  gate: keyof typeof gates,
  request: (controlPlane: Caller, fetch: TestStack['fetch']) => Promise<unknown>,
): Promise<void> {
  const controlPlane = await startKillableControlPlane(stack, authSettings)
  processes.push(controlPlane)
  const [event, table, model] = gates[gate]
  const condition = model === undefined ? '' : `when (new.model = '${model}')`
  const fetchThere: TestStack['fetch'] = (path, init) => fetch(controlPlane.url + path, init)
  const holder = await sql.reserve()
  try {
    await holder`select pg_advisory_lock(4711)`
    await holder.unsafe(`
      create trigger gate after ${event} on ${table} for each row ${condition}
      execute function wait_at_gate()`)
    const there = new Caller({ ...stack, fetch: fetchThere }, world)
    const failed = expect(request(there, fetchThere)).rejects.toThrow('fetch failed')
    const waiting = () => holder`
      select from pg_locks where locktype = 'advisory' and objid = 4711 and not granted`
    await expect.poll(waiting, { timeout: 20_000, interval: 20 }).toHaveLength(1)
    await controlPlane.kill()
    await failed
  } finally {
    await holder`select pg_advisory_unlock(4711)`
    // Dropping the trigger waits until the transaction of the killed process is rolled back.
    await holder.unsafe(`drop trigger gate on ${table}`)
    holder.release()
  }
}

async function toConsent(email: string) {
  const { body: client } = await caller.register()
  const { verifier, challenge } = drawPkce()
  const browser = new Browser(stack)
  const started = await browser.open(caller.authorizeUrl(client, challenge))
  const consent = await caller.signIn(browser, await browser.follow(started), email)
  return { client, verifier, browser, consent }
}

async function customersWith(email: string) {
  return sql<{ reference: string; purchases: number }[]>`
    select reference, (select count(*)::int from purchases
      where purchases.customer_ref = customers.reference) as purchases
    from customers where email_key = ${email}`
}

describe('a process that is killed', () => {
  test('after enrolling the customer and before storing the answer: the person answers again', async () => {
    const email = 'enrolled@example.com'
    const { client, verifier, browser, consent } = await toConsent(email)
    await killAt('answer of the person', (_, fetchThere) =>
      caller.answer(browser.at({ ...stack, fetch: fetchThere }), consent, 'allow'),
    )
    const reference = expect.any(String) as string
    expect(await customersWith(email)).toEqual([{ reference, purchases: 1 }])
    const end = await browser.follow(await caller.answer(browser, consent, 'allow'))
    const code = new URL(end.location!).searchParams.get('code')!
    const { body } = await caller.redeem(client, code, verifier)
    expect(await customersWith(email)).toEqual([
      { reference: decodeJwt(body.access_token).sub, purchases: 1 },
    ])
  })

  test('between the answer and the code: the browser continues and gets one code', async () => {
    const { client, verifier, browser, consent } = await toConsent('at-code@example.com')
    const answered = await caller.answer(browser, consent, 'allow')
    await killAt('code', (_, fetchThere) =>
      browser.at({ ...stack, fetch: fetchThere }).open(answered.location!),
    )
    const end = await browser.open(answered.location!)
    const code = new URL(end.location!).searchParams.get('code')!
    expect((await caller.redeem(client, code, verifier)).status).toBe(200)
    const again = await browser.open(answered.location!)
    expect([again.status, again.location]).toEqual([400, undefined])
  })

  test('while a code is redeemed: the code stays valid, and a token is recorded before it is sent', async () => {
    const { client, verifier, browser, consent } = await toConsent('redeem@example.com')
    const end = await browser.follow(await caller.answer(browser, consent, 'allow'))
    const code = new URL(end.location!).searchParams.get('code')!
    const recorded = async () => (await sql`select from oauth_access_tokens`).length
    const before = await recorded()
    await killAt('access token', (controlPlane) => controlPlane.redeem(client, code, verifier))
    expect(await recorded()).toBe(before)
    const { status, body } = await caller.redeem(client, code, verifier)
    expect([status, await recorded()]).toEqual([200, before + 1])
    expect((await caller.userinfo(body.access_token)).status).toBe(200)
  })

  test('while a token is refreshed: the refresh token stays valid, even when the stored response has expired', async () => {
    const { client, tokens } = await caller.connect('refresh@example.com')
    await killAt('kept answer', (controlPlane) =>
      controlPlane.refresh(client, tokens.refresh_token),
    )
    await sql`update oauth_records set expires_at = now() where model = 'RefreshAnswer'`
    const next = await caller.refresh(client, tokens.refresh_token)
    expect(next.status).toBe(200)
    expect((await caller.refresh(client, next.body.refresh_token)).status).toBe(200)
  })
})

test('revokes the tokens of a concurrent refresh', async () => {
  for (const how of ['refresh_token', 'access_token'] as const) {
    const { client, tokens } = await caller.connect('meets@example.com')
    const [{ body: next }] = await Promise.all([
      caller.refresh(client, tokens.refresh_token),
      caller.revoke({ client_id: client.client_id, token: tokens[how] }),
    ])
    if (next.refresh_token === undefined) continue
    expect((await caller.refresh(client, next.refresh_token)).status).toBe(400)
    expect((await caller.userinfo(next.access_token)).status).toBe(401)
  }
})

/* The rows that remain after an authorization request that no person completes. */

describe('the authorization endpoint', () => {
  const begin = async (headers: Record<string, string> = {}) => {
    const { body: client } = await caller.register()
    const url = new URL(caller.authorizeUrl(client, drawPkce().challenge))
    return stack.fetch(`${caller.base}/authorize${url.search}`, { redirect: 'manual', headers })
  }
  const interactions = () => sql<{ expires_at: Date; created_at: Date }[]>`
    select expires_at, created_at from oauth_records
    where model = 'Interaction' and issuer = ${caller.world.issuer}`

  test('counts requests of each network, and explains the limit on a page', async () => {
    expect((await begin()).status).toBe(303)
    await sql`update customer_auth_attempts set attempts = 1000 where kind = 'authorize-address'`
    const before = (await interactions()).length
    const refused = await begin({ 'accept-language': 'de' })
    expect(refused.status).toBe(429)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(refused.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(await refused.text()).toContain('Zu viele Versuche')
    expect((await interactions()).length).toBe(before)
    await sql`delete from customer_auth_attempts where kind = 'authorize-address'`
    expect((await begin()).status).toBe(303)
  })

  test('does not count requests that pages of other sites load', async () => {
    await sql`delete from customer_auth_attempts where kind = 'authorize-address'`
    for (const destination of ['image', 'empty', 'iframe']) {
      expect((await begin({ 'sec-fetch-dest': destination })).status).toBe(400)
    }
    const counted = await sql`select from customer_auth_attempts where kind = 'authorize-address'`
    expect(counted).toHaveLength(0)
    expect((await begin({ 'sec-fetch-dest': 'document' })).status).toBe(303)
  })

  test('stores a row that is deleted after 15 minutes', async () => {
    await sql`delete from oauth_records where model = 'Interaction'`
    await begin()
    const [stored, ...others] = await interactions()
    expect(others).toEqual([])
    const lastsMs = stored!.expires_at.getTime() - stored!.created_at.getTime()
    expect(lastsMs).toBe(15 * 60_000)
    // No other record of the request is stored without an expiry.
    const [left] = await sql<{ count: number }[]>`
      select count(*)::int as count from oauth_records where model <> 'Client' and expires_at is null`
    expect(left!.count).toBe(0)
    await purgeCustomerAuth(sql, new Date(stored!.expires_at.getTime() - 1))
    expect(await interactions()).toHaveLength(1)
    await purgeCustomerAuth(sql, stored!.expires_at)
    expect(await interactions()).toEqual([])
  })
})
