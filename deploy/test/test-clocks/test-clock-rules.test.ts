import { claimRechargesToCheck } from '@tollgate/domain/auto-recharge/repository'
import { testClocksMax } from '@tollgate/schemas/limits'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ClockStack } from './clock-stack.ts'

/* No runner advances the clocks here, so a clock stays advancing until a test pauses it. */

let clocks: ClockStack

beforeAll(async () => {
  clocks = await ClockStack.start({ hasBillingRunner: false })
}, 120_000)
afterAll(async () => {
  await clocks.stop()
})

const path = '/v1/ui/test-clocks'
const day = (ahead: number): string => new Date(Date.now() + ahead * 86_400_000).toISOString()
const send = (method: string, url: string, body?: unknown) => clocks.client.send(method, url, body)

describe('the time of a clock', () => {
  test.each([
    ['in the past', -1],
    ['less than 3 days ahead', 2.9],
    ['more than 20 years ahead', 366 * 21],
  ])('is refused %s', async (_, ahead) => {
    const { status, body } = await send('POST', path, { frozenTime: day(ahead) })
    expect([status, (body as { code: string }).code]).toEqual([400, 'test_clock_time'])
  })

  test('never goes back', async () => {
    const clock = await clocks.createClock(day(10))
    const { status, body } = await send('POST', `${path}/${clock}/advance`, { to: day(9) })
    expect([status, (body as { code: string }).code]).toEqual([400, 'test_clock_time'])
  })
})

describe('a live key', () => {
  test.each([
    ['GET', path],
    ['POST', path],
    ['GET', `${path}/tc_UNKNOWN`],
    ['POST', `${path}/tc_UNKNOWN/advance`],
    ['POST', `${path}/tc_UNKNOWN/pause`],
    ['POST', `${path}/tc_UNKNOWN/resume`],
    ['DELETE', `${path}/tc_UNKNOWN`],
  ])('is refused: %s %s', async (method, url) => {
    const fields = url.endsWith('advance') ? { to: day(5) } : { frozenTime: day(5) }
    const answer = await clocks.liveClient.send(method, url, method === 'GET' ? undefined : fields)
    expect([answer.status, (answer.body as { code: string }).code]).toEqual([403, 'sandbox_only'])
  })

  test('creates no customer on a clock of the sandbox', async () => {
    const testClock = await clocks.createClock(day(10))
    const customer = { email: 'live@example.com', testClock }
    const { status, body } = await clocks.liveClient.send('POST', '/v1/sdk/customers', customer)
    expect([status, (body as { code: string }).code]).toEqual([403, 'sandbox_only'])
  })
})

describe('another provider', () => {
  test('finds no clock, and creates no customer on it', async () => {
    const testClock = await clocks.createClock(day(10))
    const { sandbox: other } = await clocks.stack.createProvider()
    for (const [method, url, body] of [
      ['GET', `${path}/${testClock}`, undefined],
      ['POST', `${path}/${testClock}/advance`, { to: day(20) }],
      ['POST', `${path}/${testClock}/pause`, {}],
      ['POST', `${path}/${testClock}/resume`, {}],
      ['DELETE', `${path}/${testClock}`, undefined],
      ['POST', '/v1/sdk/customers', { email: 'x@example.com', testClock }],
    ] as const) {
      const answer = await other.send(method, url, body)
      expect([url, answer.status]).toEqual([url, 404])
    }
    expect(await other.require('GET', path, undefined)).toEqual({ testClocks: [] })
  })
})

describe('sign-ins of a customer on a clock', () => {
  test('have real time: a link to one ends within days', async () => {
    const { reference: productRef } = await clocks.client.createProduct({ name: 'Linked' })
    const customerRef = await clocks.createCustomer(await clocks.createClock(day(1_000)))
    const request = { customerRef, productRef, purpose: 'portal' }
    const { expiresAt } = await clocks.post<{ expiresAt: string }>(
      '/v1/customer/auth/links',
      request,
    )
    expect(expiresAt < day(10)).toBe(true)
  })
})

describe('the payment processor', () => {
  test('is called in real time for customers on clocks, and asked again in real time', async () => {
    const customerRef = await clocks.createCustomer(await clocks.createClock(day(1_000)))
    await clocks.saveCard(customerRef)
    const [invoice] = await clocks.invoicesOf(customerRef)
    await clocks.post(`/v1/ui/invoices/${invoice!.reference}/refunds`, { reason: 'r', to: 'card' })
    const ofCustomer = clocks.sql`
      intent_ref in (select reference from payment_intents where customer_ref = ${customerRef})`
    // The answer to the refund is unknown at the time of the clock.
    await clocks.sql`
      update requested_refunds set status = 'open', due_at = ${day(1_000)} where ${ofCustomer}`
    const times = await clocks.sql<{ at: Date }[]>`
      select sent_at as at from payment_attempts where ${ofCustomer}
      union all select sent_at from requested_refunds where ${ofCustomer}
      union all select coalesce(due_at, now()) from requested_refunds where ${ofCustomer}`
    expect(times.length).toBeGreaterThan(2)
    for (const { at } of times) expect(at.toISOString() < day(1)).toBe(true)
  })
})

describe('a hosted page of a customer on a clock', () => {
  test('opens, and is refused while the clock advances', async () => {
    const { reference: productRef } = await clocks.client.createProduct({ name: 'Portal' })
    const clock = await clocks.createClock(day(1_000))
    const customerRef = await clocks.createCustomer(clock)
    const { customerUrl } = await clocks.post<{ customerUrl: string }>(
      '/v1/sdk/customers/customer-sessions',
      { customerRef, productRef },
    )
    const { pathname, search } = new URL(customerUrl)
    const open = () =>
      fetch(`${clocks.stack.environment['TOLLGATE_CONTROL_PLANE_URL']}${pathname}${search}`)
    await clocks.requestAdvance(clock, day(1_020))
    const refused = await open()
    expect(refused.status).toBe(409)
    expect(await refused.text()).toContain('A test clock is advancing')
    await clocks.post(`${path}/${clock}/pause`, {})
    expect((await open()).status).toBe(200)
  })
})

describe('an advancing clock', () => {
  test('refuses changes of its customers, and serves reads, limit checks and usage', async () => {
    const { reference: productRef } = await clocks.client.createProduct({ name: 'API' })
    const plan = { name: 'Free', type: 'recurring', price: 0, billingCycle: 'monthly', limit: 5 }
    const { reference: planRef } = await clocks.client.createPlan(productRef, plan)
    const clock = await clocks.createClock(day(10))
    const customerRef = await clocks.createCustomer(clock)
    const activate = { customerRef, productRef, planRef }
    await clocks.requestAdvance(clock, day(20))
    const refused = await send('POST', '/v1/sdk/activate', activate)
    expect([refused.status, (refused.body as { code: string }).code]).toEqual([
      ...[409, 'test_clock_advancing'],
    ])
    expect((await send('GET', `/v1/sdk/customers/${customerRef}`)).status).toBe(200)
    expect((await send('POST', '/v1/sdk/usages', { customerRef, productRef })).status).toBe(200)
    expect((await send('POST', '/v1/sdk/limits', { customerRef, productRef })).status).toBe(200)
    expect((await send('DELETE', `${path}/${clock}`)).status).toBe(409)

    await clocks.post(`${path}/${clock}/pause`, {})
    expect((await send('POST', '/v1/sdk/activate', activate)).status).toBe(200)
    expect(await clocks.post(`${path}/${clock}/resume`, {})).toMatchObject({ status: 'advancing' })
  })

  test('is requested once, however often the request is repeated', async () => {
    const clock = await clocks.createClock(day(10))
    const to = day(20)
    const first = await clocks.requestAdvance(clock, to)
    expect(await clocks.requestAdvance(clock, to)).toEqual(first)
    const other = await send('POST', `${path}/${clock}/advance`, { to: day(21) })
    expect([other.status, (other.body as { code: string }).code]).toEqual([
      ...[409, 'test_clock_not_now'],
    ])
  })
})

describe('the customers of a clock', () => {
  test('keep their clock, and a request with another one is refused', async () => {
    const [clock, other] = [await clocks.createClock(day(10)), await clocks.createClock(day(10))]
    const customer = { email: 'kept@example.com', externalRef: 'kept', testClock: clock }
    expect(await clocks.post('/v1/sdk/customers', customer)).toMatchObject({ testClock: clock })
    expect(await clocks.post('/v1/sdk/customers', customer)).toMatchObject({ testClock: clock })
    const refused = await send('POST', '/v1/sdk/customers', { ...customer, testClock: other })
    expect([refused.status, (refused.body as { code: string }).code]).toEqual([
      ...[409, 'customer_on_other_clock'],
    ])
  })

  test('are deleted with it', async () => {
    const clock = await clocks.createClock(day(10))
    const customerRef = await clocks.createCustomer(clock)
    expect(await send('DELETE', `${path}/${clock}`)).toMatchObject({ status: 200 })
    expect((await send('GET', `${path}/${clock}`)).status).toBe(404)
    expect((await send('GET', `/v1/sdk/customers/${customerRef}`)).status).toBe(404)
    const { testClocks } = await clocks.get<{ testClocks: { reference: string }[] }>(path)
    expect(testClocks.map(({ reference }) => reference)).not.toContain(clock)
  })

  test('are not created, and the clock is not resumed, while it is being deleted', async () => {
    const clock = await clocks.createClock(day(10))
    await clocks.requestAdvance(clock, day(20))
    await clocks.post(`${path}/${clock}/pause`, {})
    // A process died in the middle of the deletion.
    await clocks.sql`update test_clocks set is_deleting = true where reference = ${clock}`
    expect((await send('POST', `${path}/${clock}/resume`, {})).status).toBe(409)
    const customer = { email: 'late@example.com', testClock: clock }
    expect((await send('POST', '/v1/sdk/customers', customer)).status).toBe(404)
    expect((await send('DELETE', `${path}/${clock}`)).status).toBe(200)
  })

  test('are not recharged again and again because their wallets are dated ahead', async () => {
    const customerRef = await clocks.createCustomer(await clocks.createClock(day(10)))
    await clocks.sql`
      insert into wallets (provider_id, customer_ref, created_at, updated_at)
      select provider_id, reference, created_at, created_at from customers
      where reference = ${customerRef}
      on conflict (provider_id, customer_ref) do nothing`
    const now = new Date()
    await clocks.sql`
      insert into auto_recharges (provider_id, customer_ref, status, threshold_minor, threshold_currency,
        topup_minor, topup_currency, funding_source_type, updated_at, looked_at)
      select provider_id, reference, 'active', 0, 'EUR', 100, 'EUR', 'saved_card', ${now}, ${now}
      from customers where reference = ${customerRef}`
    const due = await claimRechargesToCheck(clocks.sql, now, new Date(now.getTime() - 60_000), 100)
    expect(due.map((each) => each.customerRef)).not.toContain(customerRef)
  })

  test('are deleted before real time reaches the clock', async () => {
    const clock = await clocks.createClock(day(10))
    const customerRef = await clocks.createCustomer(clock)
    const soon = new Date(Date.now() + 2 * 86_400_000 - 1_000)
    await clocks.sql`
      update test_clocks set time_reached = ${soon}, processed_to = ${soon}
      where reference = ${clock}`
    await expect
      .poll(async () => (await send('GET', `/v1/sdk/customers/${customerRef}`)).status, {
        ...{ timeout: 100_000, interval: 200 },
      })
      .toBe(404)
  }, 120_000)
})

test('a provider has a limited number of clocks, also if all are created at once', async () => {
  const { sandbox } = await clocks.stack.createProvider()
  const create = () => sandbox.send('POST', path, { frozenTime: day(10) })
  const answers = await Promise.all(Array.from({ length: testClocksMax + 10 }, create))
  const refused = answers.filter(({ status }) => status !== 201)
  expect(refused).toHaveLength(10)
  for (const { status, body } of [...refused, await create()]) {
    expect([status, (body as { code: string }).code]).toEqual([409, 'too_many_test_clocks'])
  }
})
