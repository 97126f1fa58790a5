import type { CreditScheduleBody } from '@tollgate/schemas/http/credit-schedules'
import type { CustomerBody } from '@tollgate/schemas/http/customers'
import { creditSchedulesMax } from '@tollgate/schemas/limits'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { quickPasswords, signInAs } from './console-user.ts'
import { startTestStack, type Tenant, type TestStack } from './test-stack.ts'

/* The API of schedules of credits: its rights, its refusals, and the next grant in the portal. */

let stack: TestStack
let tenant: Tenant
let admin: string
let member: string
let customers = 0

beforeAll(async () => {
  stack = await startTestStack({ settings: quickPasswords })
  tenant = await stack.createTenant()
  admin = await signInAs(stack, tenant, 'admin')
  member = await signInAs(stack, tenant, 'member')
})
afterAll(() => stack.stop())

const monthly = { credits: 1_000, every: { unit: 'month', count: 1 } }

async function createCustomer(): Promise<string> {
  customers += 1
  const email = `scheduled${customers}@example.com`
  const path = '/v1/sdk/customers'
  return (await stack.call<CustomerBody>(tenant.sandboxKey, 'POST', path, { email })).body.reference
}

const pathOf = (customerRef: string): string => `/v1/ui/customers/${customerRef}/credit-schedules`

function create(customerRef: string, body: object, key?: string, credential = admin) {
  return stack.callRaw<CreditScheduleBody & { code?: string }>(
    credential,
    'POST',
    pathOf(customerRef),
    {
      body: JSON.stringify(body),
      headers: key === undefined ? {} : { 'Idempotency-Key': key },
    },
  )
}

it('creates one schedule for each idempotency key', async () => {
  const customerRef = await createCustomer()
  const first = await create(customerRef, monthly, 'allowance')
  expect(first).toMatchObject({
    status: 201,
    body: { customerRef, status: 'active', timeZone: 'UTC', expiry: 'never', grantsDue: 0 },
  })
  expect((await create(customerRef, monthly, 'allowance')).body).toEqual(first.body)
  const other = await create(customerRef, { ...monthly, credits: 5 }, 'allowance')
  expect(other).toMatchObject({ status: 409, body: { code: 'idempotency_key_reused' } })
  const listed = await stack.call<{ schedules: unknown[] }>(admin, 'GET', pathOf(customerRef))
  expect(listed.body.schedules).toEqual([first.body])
})

it.each([
  [{ every: { unit: 'month', count: 0 } }],
  [{ timeZone: 'Mars/Olympus' }],
  [{ timeZone: '+02:00' }],
  [{ timeZone: 'EST5EDT' }],
  [{ expiry: { days: 0 } }],
  [{ rollOverMax: 1 }],
  [{ startsAt: '2020-01-01T00:00:00Z' }],
  [{ startsAt: '2090-01-02T00:00:00Z', endsAt: '2090-01-01T00:00:00Z' }],
])('refuses %j', async (wrong) => {
  const customerRef = await createCustomer()
  expect((await create(customerRef, { ...monthly, ...wrong })).status).toBe(400)
})

it('is changed, paused, resumed and ended', async () => {
  const customerRef = await createCustomer()
  const startsAt = '2090-01-31T12:00:00.000Z'
  const { reference, nextAt } = (await create(customerRef, { ...monthly, startsAt })).body
  expect(nextAt).toBe(startsAt)
  const path = `${pathOf(customerRef)}/${reference}`
  const change = { credits: 2_000, expiry: 'next_grant', rollOverMax: 500, grantsMax: 12 }
  const changed = await stack.call(admin, 'PATCH', path, change)
  expect(changed).toMatchObject({ status: 200, body: change })
  const unlimited = await stack.call<object>(admin, 'PATCH', path, { grantsMax: null })
  expect(unlimited.body).not.toHaveProperty('grantsMax')
  for (const [move, status] of [
    ...([
      ['pause', 'paused'],
      ['resume', 'active'],
      ['end', 'ended'],
      ['end', 'ended'],
    ] as const),
  ]) {
    const moved = await stack.call<CreditScheduleBody>(admin, 'POST', `${path}/${move}`, {})
    expect(moved).toMatchObject({ status: 200, body: { status } })
  }
  const late = await stack.call(admin, 'PATCH', path, { credits: 1 })
  expect(late).toMatchObject({ status: 409, body: { code: 'credit_schedule_ended' } })
})

it('refuses changes by a member, and hides schedules from other customers, providers and environments', async () => {
  const customerRef = await createCustomer()
  const { reference } = (await create(customerRef, monthly)).body
  const path = `${pathOf(customerRef)}/${reference}`
  expect((await create(customerRef, monthly, undefined, member)).status).toBe(403)
  expect((await stack.call(member, 'POST', `${path}/end`, {})).status).toBe(403)
  expect((await stack.call(member, 'GET', `${path}/grants`)).status).toBe(200)
  const stranger = await stack.createTenant()
  for (const key of [stranger.sandboxKey, tenant.liveKey]) {
    expect((await stack.call(key, 'GET', `${path}/grants`)).status).toBe(404)
    expect((await stack.call(key, 'POST', `${path}/end`, {})).status).toBe(404)
  }
  const other = await createCustomer()
  const ofOther = await stack.call(admin, 'POST', `${pathOf(other)}/${reference}/end`, {})
  expect(ofOther).toMatchObject({ status: 404, body: { code: 'credit_schedule_not_found' } })
})

it('limits the schedules of a customer that have not ended', async () => {
  const customerRef = await createCustomer()
  const created = await create(customerRef, monthly)
  for (let made = 1; made < creditSchedulesMax; made += 1) await create(customerRef, monthly)
  const tooMany = await create(customerRef, monthly)
  expect(tooMany).toMatchObject({ status: 409, body: { code: 'too_many_credit_schedules' } })
  await stack.call(admin, 'POST', `${pathOf(customerRef)}/${created.body.reference}/end`, {})
  expect((await create(customerRef, monthly)).status).toBe(201)
})

it('shows the next grant in the portal, unless the schedule is paused', async () => {
  const customerRef = await createCustomer()
  const startsAt = '2090-01-31T12:00:00.000Z'
  const { reference } = (await create(customerRef, { ...monthly, startsAt })).body
  const { body } = await stack.call<{ sessionId: string }>(
    tenant.sandboxKey,
    'POST',
    '/v1/sdk/customers/customer-sessions',
    { customerRef },
  )
  const form = new URLSearchParams({ id: body.sessionId })
  const opening = { method: 'POST', body: form, redirect: 'manual' } as const
  const { headers } = await stack.fetch('/customer/manage', opening)
  const [cookie = ''] = headers.get('set-cookie')?.split(';') ?? []
  const page = async (): Promise<string> =>
    (await stack.fetch(`${headers.get('location')}/credits`, { headers: { cookie } })).text()
  expect(await page()).toMatch(/Next: 1,000 credits on .*2090/)
  await stack.call(admin, 'POST', `${pathOf(customerRef)}/${reference}/pause`, {})
  expect(await page()).not.toContain('Next: ')
})
