import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ClockStack } from './clock-stack.ts'
import { clockTime as at, clockYear } from './clock-year.ts'

let clocks: ClockStack
let productRef: string

beforeAll(async () => {
  clocks = await ClockStack.start()
  productRef = (await clocks.client.createProduct({ name: 'API' })).reference
}, 120_000)
afterAll(async () => {
  await clocks.stop()
})

describe('a monthly plan on a clock', () => {
  test('is renewed and invoiced at the dates of the clock', async () => {
    const plan = { name: 'Pro', type: 'recurring', price: 1000, billingCycle: 'monthly' }
    const { reference: planRef } = await clocks.client.createPlan(productRef, plan)
    const clock = await clocks.createClock(at('01-10'))
    const customerRef = await clocks.createCustomer(clock)
    const purchase = await clocks.buy(customerRef, productRef, planRef)
    expect(purchase.startDate).toBe(at('01-10'))

    const ready = await clocks.advance(clock, at('03-15'))
    expect(ready).toMatchObject({
      status: 'ready',
      frozenTime: at('03-15'),
      advance: { from: at('01-10'), to: at('03-15'), progress: 1 },
    })
    const invoices = await clocks.invoicesOf(customerRef)
    expect(invoices.map(({ status, total, createdAt }) => ({ status, total, createdAt }))).toEqual([
      { status: 'paid', total: 1000, createdAt: at('01-10') },
      { status: 'paid', total: 1000, createdAt: at('02-10', '10:00:00') },
      { status: 'paid', total: 1000, createdAt: at('03-10', '10:00:00') },
    ])
    const [renewed] = await clocks.purchasesOf(customerRef)
    expect(renewed).toMatchObject({ status: 'active', nextBillingDate: at('04-10') })
  })
})

describe('customers on a clock', () => {
  test('bills the usage of each period when it is stored, and limit checks have the period of the clock', async () => {
    const plan = {
      ...{ name: 'Metered', type: 'usage-based', billingModel: 'post-paid' },
      ...{ billingCycle: 'monthly', currency: 'USD' },
      charges: [{ meter: 'requests', model: 'per_unit', price: '10', cap: 100 }],
    }
    const { reference: planRef } = await clocks.client.createPlan(productRef, plan)
    const clock = await clocks.createClock(at('01-01'))
    const customerRef = await clocks.createCustomer(clock)
    await clocks.saveCard(customerRef)
    await clocks.post('/v1/sdk/activate', { customerRef, productRef, planRef })
    const usage = { customerRef, productRef }
    await clocks.client.recordUsage({ ...usage, units: 40 })
    expect(await clocks.client.checkLimit(customerRef, productRef)).toMatchObject({ remaining: 60 })
    await clocks.advance(clock, at('02-20'))
    expect(await clocks.client.checkLimit(customerRef, productRef)).toMatchObject({
      remaining: 100,
    })
    await clocks.client.recordUsage({ ...usage, units: 7 })
    expect(await clocks.client.checkLimit(customerRef, productRef)).toMatchObject({ remaining: 93 })
    await clocks.advance(clock, at('03-20'))
    const [, ...invoices] = await clocks.invoicesOf(customerRef)
    expect(invoices.map(({ total, createdAt }) => ({ total, createdAt }))).toEqual([
      { total: 400, createdAt: at('02-01', '11:00:00') },
      { total: 70, createdAt: at('03-01', '11:00:00') },
    ])
  })

  test('dates usage by the clock, and refuses what is outside of its window', async () => {
    const clock = await clocks.createClock(at('06-10'))
    const customerRef = await clocks.createCustomer(clock)
    const record = (timestamp?: string) =>
      clocks.client.send('POST', '/v1/sdk/usages', { customerRef, productRef, timestamp })
    expect((await record(at('05-12'))).status).toBe(200)
    expect((await record(at('05-10'))).status).toBe(400)
    expect((await record(at('06-11', '01:00:00'))).status).toBe(400)
    // Clients that know nothing of clocks date usage with real time.
    expect((await record(new Date().toISOString())).status).toBe(200)
    expect((await record()).status).toBe(200)
    await expect
      .poll(
        async () =>
          (
            await clocks.stack.usageStore.query<{ at: string }>(
              `select toString(timestamp) as at from sandbox.usage_records
               where customer_ref = '${customerRef}' order by timestamp`,
            )
          ).map((row) => row.at),
        { timeout: 10_000 },
      )
      .toEqual([
        `${clockYear}-05-12 00:00:00.000`,
        `${clockYear}-06-10 00:00:00.000`,
        `${clockYear}-06-10 00:00:00.000`,
      ])
  })

  test('counts rolling and hourly limits by the time of the clock', async () => {
    const plan = {
      ...{ name: 'Slow', type: 'usage-based', billingModel: 'post-paid', billingCycle: 'monthly' },
      charges: [{ meter: 'requests', model: 'per_unit', price: '1', cap: 1_000 }],
      usageLimits: [
        { meter: 'requests', cap: 10, per: 'rolling', rollingSeconds: 60, key: 'minute' },
        { meter: 'requests', cap: 15, per: 'hour', key: 'hour' },
      ],
    }
    const { reference: planRef } = await clocks.client.createPlan(productRef, plan)
    const clock = await clocks.createClock(at('01-01'))
    const customerRef = await clocks.createCustomer(clock)
    await clocks.post('/v1/sdk/activate', { customerRef, productRef, planRef })
    const usage = { customerRef, productRef }
    const left = async (): Promise<number> =>
      (await clocks.client.checkLimit(customerRef, productRef)).remaining
    await clocks.client.recordUsage({ ...usage, units: 8 })
    expect(await left()).toBe(2)
    await clocks.advance(clock, at('01-01', '00:10:00'))
    expect(await left()).toBe(7)
    await clocks.advance(clock, at('01-01', '01:00:00'))
    expect(await left()).toBe(10)
  })

  test('ends a trial with a card by a charge and one without by a suspension', async () => {
    const plan = {
      ...{ name: 'Trial', type: 'recurring', price: 900, billingCycle: 'monthly' },
      trialDays: 14,
    }
    const { reference: planRef } = await clocks.client.createPlan(productRef, plan)
    const clock = await clocks.createClock(at('01-01'))
    const [payer, other] = [await clocks.createCustomer(clock), await clocks.createCustomer(clock)]
    await clocks.saveCard(payer)
    for (const customerRef of [payer, other]) {
      await clocks.startTrial(customerRef, productRef, planRef)
    }
    await clocks.advance(clock, at('01-20'))
    const statusOf = async (customerRef: string): Promise<string | undefined> => {
      const [row] = await clocks.sql<{ status: string }[]>`
        select status from purchases
        where customer_ref = ${customerRef} and plan_ref = ${planRef}`
      return row?.status
    }
    expect([await statusOf(payer), await statusOf(other)]).toEqual(['active', 'suspended'])
    expect(await clocks.eventsOf(payer)).toEqual(
      expect.arrayContaining([
        `${at('01-12')} purchase.trial_ending`,
        `${at('01-15', '08:00:00')} purchase.trial_converted`,
      ]),
    )
    expect(await clocks.eventsOf(other)).toContain(`${at('01-15', '08:00:00')} purchase.suspended`)
  })

  test('retries a failed renewal, suspends, and writes off, at the dates of the clock', async () => {
    const plan = { name: 'Dun', type: 'recurring', price: 2500, billingCycle: 'monthly' }
    const { reference: planRef } = await clocks.client.createPlan(productRef, plan)
    const clock = await clocks.createClock(at('01-01'))
    const customerRef = await clocks.createCustomer(clock)
    await clocks.buy(customerRef, productRef, planRef)
    await clocks.replaceCard(customerRef, 'pm_card_chargeCustomerFail')
    await clocks.advance(clock, at('02-20'))
    expect((await clocks.purchasesOf(customerRef))[0]).toMatchObject({ status: 'suspended' })
    await clocks.advance(clock, at('05-01'))
    const [, renewal] = await clocks.invoicesOf(customerRef)
    expect(renewal).toMatchObject({ status: 'void' })
    expect((await clocks.eventsOf(customerRef)).slice(4)).toEqual([
      `${at('01-29')} purchase.renewal_reminder`,
      `${at('02-01')} usage.reset`,
      `${at('02-01', '10:00:00')} payment.failed`,
      `${at('02-01', '10:00:00')} purchase.past_due`,
      `${at('02-01', '15:00:00')} payment.failed`,
      `${at('02-02', '15:00:00')} payment.failed`,
      `${at('02-05', '15:00:00')} payment.failed`,
      `${at('02-05', '15:00:00')} purchase.suspended`,
      `${at('04-07', '12:00:00')} purchase.expired`,
    ])
  })

  test('expires credits at the instant of their expiry', async () => {
    const clock = await clocks.createClock(at('01-01'))
    const customerRef = await clocks.createCustomer(clock)
    await clocks.post(`/v1/sdk/customers/${customerRef}/credits`, {
      ...{ credits: 100, expiresAt: at('02-03', '04:05:06') },
    })
    await clocks.post(`/v1/sdk/customers/${customerRef}/credits`, { credits: 30 }, 'grant-2')
    const balance = async (): Promise<unknown> =>
      (await clocks.get<{ credits: number }>(`/v1/sdk/customers/${customerRef}/balance`)).credits
    await clocks.advance(clock, at('02-03', '04:05:05'))
    expect(await balance()).toBe(130)
    await clocks.advance(clock, at('02-03', '04:05:06'))
    expect(await balance()).toBe(30)
    const { transactions } = await clocks.get<{ transactions: Record<string, unknown>[] }>(
      `/v1/ui/customers/${customerRef}/credits/transactions`,
    )
    expect(transactions.find(({ kind }) => kind === 'expiry')).toMatchObject({
      ...{ credits: '-100', createdAt: at('02-03', '04:05:06') },
    })
  })

  test('gives the grants of a schedule once the purchase is renewed for their date', async () => {
    const plan = { name: 'Allowance', type: 'recurring', price: 1000, billingCycle: 'monthly' }
    const { reference: planRef } = await clocks.client.createPlan(productRef, plan)
    const clock = await clocks.createClock(at('01-10'))
    const customerRef = await clocks.createCustomer(clock)
    const { reference: purchaseRef } = await clocks.buy(customerRef, productRef, planRef)
    const path = `/v1/ui/customers/${customerRef}/credit-schedules`
    const { reference } = await clocks.post<{ reference: string }>(path, {
      ...{ credits: 100, every: { unit: 'month', count: 1 }, purchaseRef },
      ...{ expiry: 'next_grant', rollOverMax: 30 },
    })
    await clocks.advance(clock, at('03-15'))
    const { grants } = await clocks.get<{ grants: Record<string, string>[] }>(
      `${path}/${reference}/grants`,
    )
    expect(grants).toMatchObject([
      { dueAt: at('03-10'), outcome: 'granted', credits: 130, expiresAt: at('04-10') },
      { dueAt: at('02-10'), outcome: 'granted', credits: 130, expiresAt: at('03-10') },
      { dueAt: at('01-10'), outcome: 'granted', credits: 100, expiresAt: at('02-10') },
    ])
    // Renewals are paid at 10:00.
    expect(grants.map(({ processedAt }) => processedAt!.slice(5, 15))).toEqual([
      ...['03-10T10:0', '02-10T10:0', '01-10T00:0'],
    ])
    const balance = await clocks.get<{ credits: number }>(
      `/v1/sdk/customers/${customerRef}/balance`,
    )
    expect(balance.credits).toBe(130)
  })
})
