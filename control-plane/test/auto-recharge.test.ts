import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { AutoRechargeResponse, PaymentMethodBody } from '@tollgate/schemas/http/auto-recharge'
import type { CustomerBody } from '@tollgate/schemas/http/customers'
import { startTestStack, type Tenant, type TestStack } from './test-stack.ts'

/* Requests that set, show and disable automatic top-ups, with cards and exchange rates. */

let stack: TestStack
let tenant: Tenant
let customerRef: string
let sequence = 0

beforeAll(async () => {
  stack = await startTestStack()
  tenant = await stack.createTenant('SEK')
  await call('PATCH', '/v1/ui/merchant', { supportedTopupCurrencies: ['USD', 'JPY'] })
  await call('PUT', '/v1/ui/exchange-rates/sek', { unitsPerDollar: '9.46' })
})
afterAll(() => stack.stop())
beforeEach(async () => {
  stack.clock.set('2026-03-01T00:00:00Z')
  const fields = { email: `c${(sequence += 1)}@example.com`, externalRef: `user_${sequence}` }
  customerRef = (await call<CustomerBody>('POST', '/v1/sdk/customers', fields)).body.reference
})

function call<Body>(method: string, path: string, body?: unknown) {
  return stack.call<Body>(tenant.sandboxKey, method, path, body)
}

const path = '/v1/sdk/auto-recharge'
const read = async () =>
  (await call<AutoRechargeResponse>('GET', `${path}?customerRef=${customerRef}`)).body

const terms = {
  enabled: true,
  triggerType: 'balance',
  currency: 'sek',
  thresholdAmountMajor: 50,
  topupAmountMajor: 100.5,
  maxMonthlySpendMajor: 1000,
}

function put(fields: object = {}) {
  const body = { customerRef, ...terms, ...fields }
  return call<AutoRechargeResponse>('PUT', path, body)
}

async function saveCard(reusable: boolean): Promise<void> {
  await stack.database.in('sandbox')`
    insert into customer_cards values
      (${tenant.providerId}, ${customerRef}, 'visa', '4242', 12, 2030, ${reusable}, null, now())`
}

test('returns only the limits for forms if nothing is configured', async () => {
  expect(await read()).toEqual({
    config: null,
    validation: {
      maxAmountMajor: 10_000,
      processorMinimumMinorByCurrency: expect.objectContaining({
        USD: 50,
        SEK: 300,
        KRW: 500,
      }) as unknown,
    },
  })
  const { status } = await call('GET', path)
  expect(status).toBe(400)
})

test('waits for a card that may be charged', async () => {
  const { status, body } = await put()
  expect(status).toBe(200)
  expect(body).toEqual({
    config: {
      enabled: true,
      trigger: { type: 'balance', thresholdAmountMinor: 5_000 },
      topup: { mode: 'fixed', amountMinor: 10_050, currency: 'SEK' },
      fundingSourceType: 'saved_card',
      status: 'pending_setup',
      failureCount: 0,
      monthlySpendMinor: 0,
      maxMonthlySpendMinor: 100_000,
      updatedAt: '2026-03-01T00:00:00.000Z',
    },
    display: {
      thresholdAmountMajor: 50,
      topupAmountMajor: 100.5,
      currency: 'SEK',
      formatted: { threshold: 'SEK 50.00', topup: 'SEK 100.50' },
      exchangeRate: 9.46,
      rateSource: 'db',
    },
  })
  expect(await read()).toMatchObject(body)
  await saveCard(true)
  expect((await put()).body.config?.status).toBe('active')
})

test('does not charge a card that may not be charged without the customer', async () => {
  await saveCard(false)
  expect((await put()).body.config?.status).toBe('pending_setup')
})

test('shows amounts of another currency in the currency of the balance', async () => {
  const { body } = await put({
    currency: 'JPY',
    topupAmountMajor: 1500,
    maxMonthlySpendMajor: 3000,
  })
  expect(body.config?.topup).toEqual({ mode: 'fixed', amountMinor: 1500, currency: 'JPY' })
  // 1,500 yen are 10 dollars at the built-in rate, which are 94.60 kronor at the provider's rate.
  expect(body.display).toMatchObject({ topupAmountMajor: 94.6, currency: 'SEK' })
})

test('changes what is shown, not the stored terms, when a rate is added or removed', async () => {
  await put()
  await call('PUT', '/v1/ui/exchange-rates/SEK', { unitsPerDollar: '20' })
  expect((await read()).config?.trigger.thresholdAmountMinor).toBe(5_000)
  await call('DELETE', '/v1/ui/exchange-rates/SEK')
  const { display } = await read()
  expect(display).toMatchObject({
    currency: 'SEK',
    rateSource: 'fallback',
    thresholdAmountMajor: 50,
  })
  await call('PUT', '/v1/ui/exchange-rates/SEK', { unitsPerDollar: '9.46' })
})

describe('refuses', () => {
  test.each([
    ['no threshold', { thresholdAmountMajor: 0 }, /greater than 0/],
    ['a top-up below the threshold', { topupAmountMajor: 49.99 }, /not be less than threshold/],
    [
      'a top-up of yen that is worth less',
      { currency: 'JPY', topupAmountMajor: 100 },
      /not be less/,
    ],
    ['more than 10,000', { topupAmountMajor: 10_000.01 }, /must not exceed 10000/],
    ['less than the processor takes', { thresholdAmountMajor: 1, topupAmountMajor: 2.99 }, /3\.00/],
    ['a cap below one top-up', { maxMonthlySpendMajor: 100 }, /not be less than topup/],
    ['a currency that is not sold', { currency: 'EUR' }, /not supported.*SEK, USD, JPY/],
    ['parts of a minor unit', { topupAmountMajor: 100.001 }, /whole minor units/],
    ['parts of a yen', { currency: 'JPY', topupAmountMajor: 1500.5 }, /whole minor units/],
    ['no amounts', { topupAmountMajor: undefined }, /required/],
  ])('%s', async (_, fields, message) => {
    const { status, body } = await put(fields)
    expect(status).toBe(400)
    expect(body.message).toMatch(message)
    expect((await read()).config).toBeNull()
  })

  test('refuses a malformed body', async () => {
    expect((await put({ triggerType: 'schedule' })).status).toBe(400)
    expect((await put({ thresholdAmountMajor: -1 })).status).toBe(400)
    expect((await put({ customerRef: 'nobody' })).status).toBe(404)
  })
})

test('keeps the terms when it is turned off in either way, any number of times', async () => {
  await put()
  const off = { customerRef, enabled: false, triggerType: 'balance', currency: 'SEK' }
  const { body } = await call<AutoRechargeResponse>('PUT', path, off)
  expect(body.config).toMatchObject({
    enabled: false,
    status: 'disabled',
    topup: { amountMinor: 10_050 },
  })
  await put()
  for (let count = 0; count < 2; count += 1) {
    const answer = await call('DELETE', `${path}?customerRef=${customerRef}`)
    expect(answer.body).toEqual({ success: true })
    expect((await read()).config).toMatchObject({ enabled: false, status: 'disabled' })
  }
})

test('accepts turning off automatic recharge that was never on', async () => {
  expect((await call('DELETE', `${path}?customerRef=${customerRef}`)).status).toBe(200)
  expect((await read()).config).toBeNull()
})

test('returns the stored facts of the card as the payment method', async () => {
  const ask = () =>
    call<PaymentMethodBody>('GET', `/v1/sdk/payment-method?customerRef=user_${sequence}`)
  expect((await ask()).body).toEqual({ kind: 'none' })
  await saveCard(true)
  expect((await ask()).body).toEqual({
    kind: 'card',
    brand: 'visa',
    last4: '4242',
    expMonth: 12,
    expYear: 2030,
    reusable: true,
  })
})

describe('exchange rates', () => {
  const rates = '/v1/ui/exchange-rates'

  test('belong to one provider', async () => {
    const other = await stack.createTenant('SEK')
    for (const key of [other.sandboxKey, tenant.liveKey]) {
      expect((await stack.call(key, 'GET', rates)).body).toEqual({ exchangeRates: [] })
    }
    const sek = { currency: 'SEK', unitsPerDollar: '9.46', source: 'db' }
    expect((await call('GET', rates)).body).toEqual({ exchangeRates: [sek] })
  })

  test('can be removed', async () => {
    const set = await call('PUT', `${rates}/NOK`, { unitsPerDollar: '10.500000000' })
    expect(set.body).toEqual({ currency: 'NOK', unitsPerDollar: '10.5', source: 'db' })
    expect((await call('DELETE', `${rates}/nok`)).body).toEqual({ success: true })
    expect(JSON.stringify((await call('GET', rates)).body)).not.toContain('NOK')
  })

  test.each(['0', '0.000', '-1', '1e3', '', '9,46'])(
    'refuses the rate %j',
    async (unitsPerDollar) => {
      expect((await call('PUT', `${rates}/SEK`, { unitsPerDollar })).status).toBe(400)
    },
  )

  test('refuses a rate for the dollar', async () => {
    expect((await call('PUT', `${rates}/usd`, { unitsPerDollar: '2' })).status).toBe(400)
  })
})
