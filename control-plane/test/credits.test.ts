import type { BalanceBody, CreditsGrantedBody } from '@tollgate/schemas/http/credits'
import type { CustomerBody } from '@tollgate/schemas/http/customers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestStack, type Tenant, type TestStack } from './test-stack.ts'

let stack: TestStack
let tenant: Tenant
let customers = 0

beforeAll(async () => {
  stack = await startTestStack()
  tenant = await stack.createTenant('EUR')
})
afterAll(() => stack.stop())

async function createCustomer(key = tenant.sandboxKey): Promise<string> {
  const email = `payer${customers++}@example.com`
  const { body } = await stack.call<CustomerBody>(key, 'POST', '/v1/sdk/customers', { email })
  return body.reference
}

const creditsOf = (customerRef: string) => `/v1/sdk/customers/${customerRef}/credits`
const balanceOf = async (customerRef: string, key = tenant.sandboxKey): Promise<BalanceBody> =>
  (await stack.call<BalanceBody>(key, 'GET', `/v1/sdk/customers/${customerRef}/balance`)).body

function grant(customerRef: string, body: unknown, idempotencyKey?: string) {
  return stack.callRaw<CreditsGrantedBody>(tenant.sandboxKey, 'POST', creditsOf(customerRef), {
    body: JSON.stringify(body),
    headers: idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey },
  })
}

describe('GET balance', () => {
  it("shows the value of the credits in the provider's currency", async () => {
    const customerRef = await createCustomer()
    expect(await balanceOf(customerRef)).toEqual({
      customerRef,
      credits: 0,
      displayCurrency: 'EUR',
      creditsPerMinorUnit: 100,
      displayExchangeRate: 0.92,
      display: {
        amountMajor: 0,
        currency: 'EUR',
        formatted: '€0.00',
        exchangeRate: 0.92,
        rateSource: 'fallback',
      },
    })
    await grant(customerRef, { credits: 543_500 })
    expect((await balanceOf(customerRef)).display).toMatchObject({
      amountMajor: 50,
      formatted: '€50.00',
    })
    const rate = '/v1/ui/exchange-rates/EUR'
    await stack.call(tenant.sandboxKey, 'PUT', rate, { unitsPerDollar: '0.5' })
    expect((await balanceOf(customerRef)).display).toMatchObject({
      amountMajor: 27.18,
      rateSource: 'db',
    })
    await stack.call(tenant.sandboxKey, 'DELETE', rate)
  })

  it('responds 404 for a customer of another environment', async () => {
    const path = `/v1/sdk/customers/${await createCustomer()}/balance`
    expect((await stack.call(tenant.liveKey, 'GET', path)).status).toBe(404)
  })
})

describe('POST credits', () => {
  it('adds them at once and emits an event', async () => {
    const customerRef = await createCustomer()
    const granted = await grant(customerRef, { credits: 300, reason: 'welcome' })
    expect([granted.status, granted.body]).toEqual([
      200,
      { success: true, customerRef, credits: 300, balance: 300, reason: 'welcome' },
    ])
    expect((await grant(customerRef, { credits: 5 })).body.balance).toBe(305)
    expect((await balanceOf(customerRef)).credits).toBe(305)
    const events = await stack.database.in('sandbox')<{ object: unknown }[]>`
      select object from outbox
      where type = 'customer.credit.granted' and object->>'customerId' = ${customerRef}
      order by sequence`
    const { providerId } = tenant
    const base = { customerId: customerRef, providerId, productRef: null }
    expect(events.map(({ object }) => object)).toEqual([
      { ...base, credits: 300, amount: 300 },
      { ...base, credits: 305, amount: 5 },
    ])
  })

  it('returns the same response for a repeated key, and adds nothing', async () => {
    const customerRef = await createCustomer()
    const first = await grant(customerRef, { credits: 100 }, 'once')
    await grant(customerRef, { credits: 50 })
    expect((await grant(customerRef, { credits: 100 }, 'once')).body).toEqual(first.body)
    expect((await balanceOf(customerRef)).credits).toBe(150)
  })

  it('refuses a key for another request, whichever the customer', async () => {
    const [one, other] = [await createCustomer(), await createCustomer()]
    await grant(one, { credits: 100 }, 'taken')
    expect((await grant(one, { credits: 101 }, 'taken')).status).toBe(409)
    expect((await grant(other, { credits: 100 }, 'taken')).status).toBe(409)
    expect((await balanceOf(other)).credits).toBe(0)
  })

  it('adds credits once for 20 concurrent requests with one key', async () => {
    const customerRef = await createCustomer()
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => grant(customerRef, { credits: 70 }, 'at once')),
    )
    for (const { status, body } of answers) expect([status, body.balance]).toEqual([200, 70])
    expect((await balanceOf(customerRef)).credits).toBe(70)
  })

  it('adds the credits of all 40 concurrent requests', async () => {
    const customerRef = await createCustomer()
    await Promise.all(Array.from({ length: 40 }, () => grant(customerRef, { credits: 3 })))
    expect((await balanceOf(customerRef)).credits).toBe(120)
  })

  it.each([0, -1, 1.5, '10', null, 1_000_000_000_001])('refuses %j credits', async (credits) => {
    const refused = await grant(await createCustomer(), { credits })
    expect([refused.status, refused.body.message]).toEqual([400, 'Validation failed'])
  })

  it('limits the credits of one wallet', async () => {
    const customerRef = await createCustomer()
    for (let time = 0; time < 2; time += 1) await grant(customerRef, { credits: 1_000_000_000_000 })
    const refused = await grant(customerRef, { credits: 1 })
    expect([refused.status, refused.body.message]).toEqual([
      400,
      'A wallet is given no more than 2000000000000 credits in all',
    ])
    expect((await balanceOf(customerRef)).credits).toBe(2_000_000_000_000)
  })

  it('never changes or deletes ledger entries, which add up to zero', async () => {
    const sql = stack.database.in('sandbox')
    const refused = /what is posted stays as it is/
    await expect(sql`update ledger_entries set amount = amount + 1`).rejects.toThrow(refused)
    await expect(sql`delete from ledger_transactions`).rejects.toThrow(refused)
    const [one] = await sql<{ provider_id: string; transaction_ref: string }[]>`
      select provider_id, transaction_ref from ledger_entries limit 1`
    const line = {
      ...one!,
      line: 9,
      account: 'wallet',
      customer_ref: 'x',
      unit: 'credits',
      amount: 5,
    }
    await expect(sql`insert into ledger_entries ${sql(line)}`).rejects.toThrow('do not add up')
  })
})
