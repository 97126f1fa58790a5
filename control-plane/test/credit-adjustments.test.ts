import { readFolderSecret } from '@tollgate/platform/service/folder-secret'
import type { BalanceBody, CreditsAdjustedBody } from '@tollgate/schemas/http/credits'
import type { CustomerBody } from '@tollgate/schemas/http/customers'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { quickPasswords, signInAs } from './console-user.ts'
import { startTestStack, type Tenant, type TestStack } from './test-stack.ts'

let stack: TestStack
let tenant: Tenant
let admin: string
let member: string
let customers = 0

beforeAll(async () => {
  const settings = { ...quickPasswords, TOLLGATE_CREDIT_EXPIRY_INTERVAL_MS: '20' }
  stack = await startTestStack({ settings })
  tenant = await stack.createTenant()
  admin = await signInAs(stack, tenant, 'admin')
  member = await signInAs(stack, tenant, 'member')
})
afterAll(() => stack.stop())

async function createPayer(credits: number, more: object = {}): Promise<string> {
  const email = `adjusted${customers++}@example.com`
  const path = '/v1/sdk/customers'
  const { body } = await stack.call<CustomerBody>(tenant.sandboxKey, 'POST', path, { email })
  const granted = await grant(body.reference, { credits, ...more })
  expect(granted.status).toBe(200)
  return body.reference
}

const grant = (customerRef: string, body: object) =>
  stack.call<{ expiresAt?: string; priority?: number }>(
    tenant.sandboxKey,
    'POST',
    `/v1/sdk/customers/${customerRef}/credits`,
    body,
  )

const adjust = (customerRef: string, body: object, idempotencyKey?: string, token = admin) =>
  stack.callRaw<CreditsAdjustedBody>(
    token,
    'POST',
    `/v1/ui/customers/${customerRef}/credits/adjustments`,
    {
      body: JSON.stringify(body),
      headers: idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey },
    },
  )

async function balanceOf(customerRef: string): Promise<number> {
  const path = `/v1/sdk/customers/${customerRef}/balance`
  return (await stack.call<BalanceBody>(tenant.sandboxKey, 'GET', path)).body.credits
}

const eventsOf = async (customerRef: string) => {
  const rows = await stack.database.in('sandbox')<{ type: string; object: object }[]>`
    select type, object from outbox
    where type like 'customer.credit.%' and object->>'customerId' = ${customerRef}
    order by sequence`
  return rows.map(({ type, object }) => [type.replace('customer.credit.', ''), object])
}

/** Holds credits as ingest does for usage that is about to be recorded. */
async function hold(customerRef: string, usageRef: string, credits: number, secret?: string) {
  const dueMicros = `${credits}000000`
  const body = {
    environment: 'sandbox',
    providerId: tenant.providerId,
    holds: [{ customerRef, usageRef, dueMicros, isKeyed: false }],
  }
  const bearer = secret ?? (await readFolderSecret(stack.folder))
  return await stack.call(bearer, 'POST', '/internal/credit-holds', body)
}

it('adds and removes credits at once, and emits events', async () => {
  const customerRef = await createPayer(5_000)
  const more = await adjust(customerRef, { amount: 250, reason: 'goodwill' })
  expect([more.status, more.body]).toEqual([
    200,
    { success: true, customerRef, credits: 250, balance: 5_250, reason: 'goodwill' },
  ])
  const less = await adjust(customerRef, { amount: -5_000, reason: 'a mistake' })
  expect(less.body).toMatchObject({ credits: -5_000, balance: 250 })
  expect(await balanceOf(customerRef)).toBe(250)
  expect((await adjust(customerRef, { amount: -250, reason: 'the rest' })).body.balance).toBe(0)
  expect(await balanceOf(customerRef)).toBe(0)
  const base = { customerId: customerRef, providerId: tenant.providerId, productRef: null }
  expect(await eventsOf(customerRef)).toEqual([
    ['granted', { ...base, credits: 5_000, amount: 5_000 }],
    ['adjusted', { ...base, credits: 5_250, amount: 250 }],
    ['adjusted', { ...base, credits: 250, amount: -5_000 }],
    ['low_balance', { ...base, credits: 250, amount: -5_000 }],
    ['adjusted', { ...base, credits: 0, amount: -250 }],
    ['exhausted', { ...base, credits: 0, amount: -250 }],
  ])
})

it('removes no more credits than are unused, including held ones', async () => {
  const customerRef = await createPayer(100)
  await hold(customerRef, 'usage_on_its_way', 70)
  const refused = await adjust(customerRef, { amount: -31, reason: 'too much' })
  expect([refused.status, refused.body.message]).toEqual([
    400,
    'No more than the 30 credits of the wallet can be taken out',
  ])
  expect((await adjust(customerRef, { amount: -30, reason: 'all of it' })).body.balance).toBe(0)
  const [last] = (await eventsOf(customerRef)).filter(([type]) => type === 'adjusted')
  // Usage reaches the ledger, and therefore the event, only when it is posted.
  expect(last![1]).toMatchObject({ credits: 70, amount: -30 })
  const empty = await adjust(await createPayer(1), { amount: -2, reason: 'too much' })
  expect(empty.status).toBe(400)
})

it('removes at most the balance in 40 concurrent requests', async () => {
  const customerRef = await createPayer(100)
  const answers = await Promise.all(
    Array.from({ length: 40 }, () => adjust(customerRef, { amount: -7, reason: 'race' })),
  )
  const statuses = answers.map(({ status }) => status)
  expect(statuses.filter((status) => status === 200)).toHaveLength(14)
  expect(statuses.filter((status) => status === 400)).toHaveLength(26)
  expect(await balanceOf(customerRef)).toBe(2)
})

it('returns the same response for a repeated key, and refuses the key for another request', async () => {
  const customerRef = await createPayer(100)
  const change = { amount: -40, reason: 'once' }
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => adjust(customerRef, change, 'adjusted once')),
  )
  for (const { body } of answers) expect(body).toEqual(answers[0]!.body)
  expect(await balanceOf(customerRef)).toBe(60)
  const other = await adjust(customerRef, { ...change, amount: -41 }, 'adjusted once')
  expect(other.status).toBe(409)
})

it.each([
  [{ amount: 0, reason: 'x' }],
  [{ amount: 1.5, reason: 'x' }],
  [{ amount: -1_000_000_000_001, reason: 'x' }],
  [{ amount: 5 }],
  [{ amount: 5, reason: '' }],
])('refuses %j', async (body) => {
  expect((await adjust(await createPayer(10), body)).status).toBe(400)
})

it("requires the right to change purchases, and the provider's own customer", async () => {
  const customerRef = await createPayer(10)
  const change = { amount: 5, reason: 'x' }
  expect((await adjust(customerRef, change, undefined, member)).status).toBe(403)
  expect((await adjust('cus_nobody', change)).status).toBe(404)
  const stranger = await stack.createTenant()
  expect((await adjust(customerRef, change, undefined, stranger.sandboxKey)).status).toBe(404)
  expect(await balanceOf(customerRef)).toBe(10)
})

it('appears in the audit log with its actor', async () => {
  const customerRef = await createPayer(10)
  await adjust(customerRef, { amount: 5, reason: 'x' })
  const [row] = await stack.database.in('sandbox')<{ actor: string; operation: string }[]>`
    select actor, operation from audit_log
    where kind = 'ledger_transactions' and operation like '%adjustments' order by id desc limit 1`
  expect(row?.actor).toMatch(/^user:/)
  expect(row?.operation).toBe('POST /v1/ui/customers/:reference/credits/adjustments')
})

it('lists adjustments and expiries among the movements', async () => {
  const expiresAt = new Date(stack.clock.now() + 60_000).toISOString()
  const customerRef = await createPayer(100, { expiresAt, priority: -3 })
  await adjust(customerRef, { amount: -40, reason: 'why' })
  stack.clock.set(expiresAt)
  const path = `/v1/ui/customers/${customerRef}/credits/transactions`
  const movements = async () => {
    const { body } = await stack.call<{ transactions: object[] }>(admin, 'GET', path)
    return body.transactions
  }
  // Expired credits do not count from the moment of expiry. The ledger posts the expiry shortly afterwards.
  await expect.poll(async () => (await movements()).length, { timeout: 10_000 }).toBe(3)
  expect(await balanceOf(customerRef)).toBe(0)
  expect(await movements()).toMatchObject([
    { kind: 'expiry', credits: '-60' },
    { kind: 'adjustment', credits: '-40', reason: 'why' },
    { kind: 'grant', credits: '100' },
  ])
  const eventKinds = (await eventsOf(customerRef)).map(([type]) => type)
  expect(eventKinds).toEqual(['granted', 'adjusted', 'exhausted'])
})

it('shows the expiry of credits, and grants none that have expired', async () => {
  const customerRef = await createPayer(1)
  const expiresAt = new Date(stack.clock.now() + 60_000).toISOString()
  const granted = await grant(customerRef, { credits: 10, expiresAt, priority: 7 })
  expect(granted.body).toMatchObject({ balance: 11, expiresAt, priority: 7 })
  const past = new Date(stack.clock.now()).toISOString()
  const refused = await grant(customerRef, { credits: 10, expiresAt: past })
  expect([refused.status, refused.body.message]).toEqual([400, 'expiresAt is in the past'])
  for (const wrong of [{ expiresAt: 'tomorrow' }, { priority: 1.5 }, { priority: 1_001 }]) {
    expect((await grant(customerRef, { credits: 10, ...wrong })).status).toBe(400)
  }
})

it('holds credits only for services of its own data folder', async () => {
  const customerRef = await createPayer(10)
  for (const other of [tenant.sandboxKey, admin, 'wrong', '']) {
    const refused = await hold(customerRef, 'usage_x', 1, other)
    expect([refused.status, refused.body]).toMatchObject([404, { error: 'Not Found' }])
  }
  const old = { holds: [{ customerRef, usageRef: 'usage_x', dueMicros: '1' }] }
  const path = '/v1/sdk/credit-holds'
  expect((await stack.call(tenant.sandboxKey, 'POST', path, old)).status).toBe(404)
  expect(await balanceOf(customerRef)).toBe(10)
})
