import { afterAll, beforeEach, expect, test } from 'vitest'
import type { AutoRechargeResponse } from '@tollgate/schemas/http/auto-recharge'
import { listOutboxEvents } from '@tollgate/domain/outbox/repository'
import { eventually, PaymentStack, topUpTerms } from './payment-stack.ts'

/* Automatic top-ups with a saved card when a wallet is low, by any process that notices it. */

let customerRef: string
let sequence = 0

const payments = await PaymentStack.start({ hasWebhooks: true })
afterAll(() => payments.stop())
beforeEach(async () => {
  customerRef = await payments.createCustomer()
})

const balance = () => payments.balanceOf(customerRef)

async function config() {
  const path = `/v1/sdk/auto-recharge?customerRef=${customerRef}`
  return (await payments.call<AutoRechargeResponse>('GET', path)).body.config!
}

/** Buys a top-up of 10 dollars and enables automatic top-ups of 20 dollars below 5, with the card that paid it. */
async function enableTopUps(card: string, more: object = {}): Promise<void> {
  sequence += 1
  const autoRecharge = { ...topUpTerms, ...more }
  const topUp = { purpose: 'credit_topup', amount: 1000, currency: 'USD', autoRecharge }
  const { body } = await payments.createIntent(`arm-${sequence}`, { customerRef, ...topUp })
  expect((await config()).status).toBe('pending_setup')
  await payments.confirm(body.processorPaymentId, card)
  await eventually(async () => expect((await config()).status).toBe('active'))
}

/** Reduces the wallet as posted usage would. */
async function spend(credits: number): Promise<void> {
  const path = `/v1/ui/customers/${customerRef}/credits/adjustments`
  // The request is refused while hot state lags behind, and then nothing was debited.
  await eventually(async () => {
    const { status } = await payments.call('POST', path, { amount: -credits, reason: 'used' })
    expect(status).toBe(200)
  })
}

test('tops up a low wallet once, and again when it is low again', async () => {
  await enableTopUps('pm_card_visa')
  await spend(60_000)
  await eventually(async () => expect(await balance()).toBe(240_000))
  const after = await config()
  expect(after).toMatchObject({ failureCount: 0, monthlySpendMinor: 2000, status: 'active' })
  expect(after).not.toHaveProperty('inFlightPaymentIntentId')
  await spend(230_000)
  await eventually(async () => expect(await balance()).toBe(210_000))
  expect((await config()).monthlySpendMinor).toBe(4000)
})

test('never spends more than the cap of a month', async () => {
  await enableTopUps('pm_card_visa', { maxMonthlySpendMajor: 20 })
  await spend(60_000)
  await eventually(async () => expect(await balance()).toBe(240_000))
  await spend(230_000)
  await new Promise((resolve) => setTimeout(resolve, 500))
  expect(await balance()).toBe(10_000)
  expect((await config()).status).toBe('active')
  // A higher cap takes effect immediately, even if the wallet has not changed recently.
  await payments.sql`
    update wallets set updated_at = updated_at - interval '1 minute'
    where customer_ref = ${customerRef}`
  const higher = { customerRef, ...topUpTerms, maxMonthlySpendMajor: 40 }
  expect((await payments.call('PUT', '/v1/sdk/auto-recharge', higher)).status).toBe(200)
  await eventually(async () => expect(await balance()).toBe(210_000))
})

test('stops charging after three declines until another card is saved', async () => {
  await enableTopUps('pm_card_visa')
  const { sql } = payments
  // From now on the bank declines the card.
  const [row] = await sql<{ processor_customer_id: string }[]>`
    select processor_customer_id from processor_customers where customer_ref = ${customerRef}`
  const attached = await payments.stripe(
    'POST',
    'payment_methods/pm_card_chargeCustomerFail/attach',
    {
      customer: row!.processor_customer_id,
    },
  )
  await sql`
    update auto_recharges set payment_method_id = ${attached.body.id}
    where customer_ref = ${customerRef}`
  await spend(60_000)
  for (let declines = 1; declines <= 3; declines++) {
    await eventually(async () => expect((await config()).failureCount).toBe(declines))
    // Simulate some minutes, because a failed top-up is not retried immediately.
    await sql`
      update auto_recharges set looked_at = null, updated_at = updated_at - interval '10 minutes'
      where customer_ref = ${customerRef}`
  }
  await eventually(async () => expect((await config()).status).toBe('failed'))
  expect(await balance()).toBe(40_000)
  const events = await payments.eventsOf(customerRef)
  expect(events.filter((type) => type === 'customer.credit.auto_topup_failed')).toHaveLength(3)
  expect(events.filter((type) => type === 'payment.failed')).toHaveLength(3)
  expect(events).not.toContain('payment.canceled')
})

/** Returns the failures reported to the customer. */
async function failures(): Promise<unknown[]> {
  const events = await listOutboxEvents(payments.sql, payments.tenant.providerId, 100_000)
  return events
    .filter(({ type }) => type === 'customer.credit.auto_topup_failed')
    .filter(({ object }) => JSON.stringify(object).includes(customerRef))
    .map(({ object }) => object)
}

/** Waits until the wallet was checked once more after this call. */
async function recheck(): Promise<void> {
  const { sql } = payments
  await sql`update auto_recharges set looked_at = null where customer_ref = ${customerRef}`
  await eventually(async () => {
    const rows = await sql`
      select 1 from auto_recharges where customer_ref = ${customerRef} and looked_at is not null`
    expect(rows).toHaveLength(1)
  })
}

async function ask(fields: object): Promise<{ status: number; body: { message?: string } }> {
  const request = { customerRef, enabled: true, triggerType: 'balance', currency: 'USD' }
  const amounts = { thresholdAmountMajor: 5, topupAmountMajor: 20 }
  return payments.call('PUT', '/v1/sdk/auto-recharge', { ...request, ...amounts, ...fields })
}

test('counts tax towards the cap of a month', async () => {
  await enableTopUps('pm_card_visa', { maxMonthlySpendMajor: 20 })
  const merchant = { country: 'SE', vatNumber: 'SE556012579001' }
  expect((await payments.call('PATCH', '/v1/ui/merchant', merchant)).status).toBe(200)
  const topUp = { customerRef, purpose: 'credit_topup', amount: 1000, currency: 'USD' }
  const { body } = await payments.createIntent('says-where', topUp)
  const path = `/v1/sdk/payment-intents/${body.processorPaymentId}/business-details`
  await payments.call('POST', path, { isBusiness: false, customerCountry: 'SE' })
  await spend(60_000)
  const reason = 'monthly_cap_too_low'
  await eventually(async () =>
    expect(await failures()).toEqual([{ customerRef, paymentIntentId: null, reason }]),
  )
  await recheck()
  expect(await failures()).toHaveLength(1)
  expect(await config()).toMatchObject({ status: 'active', failureCount: 0, monthlySpendMinor: 0 })

  const refused = await ask({ maxMonthlySpendMajor: 24.99 })
  expect(refused.status).toBe(400)
  expect(refused.body.message).toContain('topupAmountMajor with its tax, 25.00 USD')
  expect((await ask({ maxMonthlySpendMajor: 25 })).status).toBe(200)
  await eventually(async () => expect(await balance()).toBe(240_000))
  expect(await config()).toMatchObject({ monthlySpendMinor: 2500, status: 'active' })
  await spend(230_000)
  await recheck()
  // The monthly cap is reached, which is not a failure.
  expect(await balance()).toBe(10_000)
  expect(await failures()).toHaveLength(1)
  const paid = await payments.sql`
    select original_amount::text as amount from payment_intents
    where customer_ref = ${customerRef} and status = 'succeeded' order by created_at`
  expect(paid).toEqual([{ amount: '1000' }, { amount: '2500' }])
})

test('reports a currency without an exchange rate, and charges it once it has one again', async () => {
  await payments.call('PATCH', '/v1/ui/merchant', { supportedTopupCurrencies: ['KWD'] })
  const rate = { unitsPerDollar: '0.3' }
  await payments.call('PUT', '/v1/ui/exchange-rates/KWD', rate)
  await enableTopUps('pm_card_visa')
  expect((await ask({ currency: 'KWD', topupAmountMajor: 6 })).status).toBe(200)
  await payments.call('DELETE', '/v1/ui/exchange-rates/KWD')
  await spend(60_000)
  const reason = 'exchange_rate_missing'
  await eventually(async () =>
    expect(await failures()).toEqual([{ customerRef, paymentIntentId: null, reason }]),
  )
  await recheck()
  expect(await failures()).toHaveLength(1)
  await payments.call('PUT', '/v1/ui/exchange-rates/KWD', rate)
  await recheck()
  await eventually(async () => expect(await balance()).toBe(240_000))
  expect(await config()).toMatchObject({ failureCount: 0, monthlySpendMinor: 600 })
})
