import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { createManualClock } from '../manual-clock.ts'
import { startStack } from '../stack.ts'
import { iso } from './shapes.ts'
import { openShop, type Shop } from './shop.ts'

/* Ends by cancellation or expiry: the moment before, the exact moment and the moment after. */

const intervalMs = 50
const patience = { timeout: 10_000, interval: intervalMs }

const clock = createManualClock('2027-01-31T10:00:00.000Z')
let shop: Shop

const stack = await startStack({
  clock,
  hasBillingRunner: true,
  settings: {
    TOLLGATE_SCHEDULE_LOOK_MS: `${intervalMs}`,
    TOLLGATE_SCHEDULE_ENDED_PURCHASES: '* * * * * *',
    TOLLGATE_SCHEDULE_ABANDONED_CHECKOUTS: '* * * * * *',
    TOLLGATE_SCHEDULE_REMINDERS: 'off',
    TOLLGATE_SCHEDULE_RENEWALS: 'off',
    TOLLGATE_SCHEDULE_USAGE_RESET: 'off',
  },
})
afterAll(() => stack.stop())
beforeEach(async () => {
  clock.set('2027-01-31T10:00:00.000Z')
  shop = openShop((await stack.createProvider()).sandbox)
})

const free = { price: 0, limit: 100 }
const byCredits = { type: 'usage-based', billingModel: 'pre-paid', creditsPerUnit: 100 }
const postPaid = { type: 'usage-based', billingModel: 'post-paid', creditsPerUnit: 2 }

describe('cancelling', () => {
  const end = '2027-02-28T10:00:00.000Z'
  const [before, at, after] = ['2027-02-28T09:59:59.999Z', end, '2027-02-28T10:00:00.001Z']

  async function held(plan: object = free) {
    const offer = await shop.sell(plan)
    const customerRef = await shop.newCustomer()
    const purchaseRef = await shop.buy(customerRef, offer)
    return { ...offer, customerRef, purchaseRef }
  }
  const typesOf = async (purchaseRef: string) =>
    (await shop.eventsOf(purchaseRef)).map(({ type }) => type.replace('purchase.', ''))

  test('keeps access exactly until the period ends', async () => {
    const { customerRef, productRef, purchaseRef } = await held()
    clock.set('2027-02-10T00:00:00.000Z')
    const { success, purchase } = await shop.cancel(purchaseRef, 'too dear')
    expect([success, purchase]).toEqual([
      true,
      expect.objectContaining({
        reference: purchaseRef,
        status: 'active',
        cancelledAt: '2027-02-10T00:00:00.000Z',
        cancellationReason: 'too dear',
        endDate: end,
      }),
    ])
    expect(purchase).not.toHaveProperty('nextBillingDate')
    expect(await shop.purchase(purchaseRef)).toMatchObject({ autoRenew: false, status: 'active' })
    clock.set(before)
    expect(await shop.check(customerRef, productRef)).toMatchObject({ withinLimits: true })
    clock.set(at)
    const denied = { withinLimits: false, remaining: 0, plan: '' }
    expect(await shop.check(customerRef, productRef)).toMatchObject(denied)
    await vi.waitFor(
      async () => expect((await shop.purchase(purchaseRef)).status).toBe('cancelled'),
      patience,
    )
    expect(await shop.purchase(purchaseRef)).toMatchObject({ endDate: end })
    expect(await typesOf(purchaseRef)).toEqual(['created', 'cancellation_scheduled', 'cancelled'])
  })

  test('ends the period in which it arrives, to the millisecond', async () => {
    const last = await held()
    const first = await held()
    clock.set(before)
    expect((await shop.cancel(last.purchaseRef)).purchase).toMatchObject({
      status: 'active',
      endDate: end,
    })
    clock.set(at)
    expect((await shop.cancel(first.purchaseRef)).purchase).toMatchObject({
      status: 'active',
      endDate: '2027-03-31T10:00:00.000Z',
    })
    expect(await shop.check(last.customerRef, last.productRef)).toMatchObject({ plan: '' })
    const { planRef } = first
    expect(await shop.check(first.customerRef, first.productRef)).toMatchObject({ plan: planRef })
  })

  test('ends a purchase at once that does not renew', async () => {
    for (const plan of [{ type: 'one-time', price: 0 }, byCredits]) {
      const { customerRef, productRef, purchaseRef } = await held(plan)
      const now = new Date(clock.now()).toISOString()
      const { purchase } = await shop.cancel(purchaseRef)
      expect(purchase).toMatchObject({ status: 'cancelled', cancelledAt: now, endDate: now })
      expect(await shop.check(customerRef, productRef)).toMatchObject({ plan: '' })
      expect(await typesOf(purchaseRef)).toEqual(['created', 'cancelled'])
    }
  })

  test('has no further effect a second time', async () => {
    const { purchaseRef } = await held()
    const once = await shop.cancel(purchaseRef, 'first')
    clock.set('2027-02-01T00:00:00.000Z')
    expect(await shop.cancel(purchaseRef, 'second')).toEqual(once)
    expect(await typesOf(purchaseRef)).toEqual(['created', 'cancellation_scheduled'])
  })

  test('refuses a purchase that was replaced by another plan', async () => {
    const { customerRef, productRef, purchaseRef } = await held()
    const planRef = await shop.newPlan(productRef, postPaid)
    await shop.buy(customerRef, { productRef, planRef })
    const path = `/v1/sdk/purchases/${purchaseRef}`
    const { message } = await shop.post<{ message: string }>(`${path}/cancel`, undefined, 400)
    expect(message).toContain('cannot be cancelled')
    const again = await shop.post<{ message: string }>(`${path}/reactivate`, undefined, 400)
    expect(again.message).toContain('already ended')
  })

  describe('and reactivating', () => {
    test('restores renewal in the last moment, and the next period begins', async () => {
      const { customerRef, productRef, planRef, purchaseRef } = await held()
      const whole = await shop.purchase(purchaseRef)
      await shop.cancel(purchaseRef, 'oops')
      clock.set(before)
      const { success, purchase } = await shop.reactivate(purchaseRef)
      expect(success).toBe(true)
      expect(purchase).toMatchObject({ reference: purchaseRef, status: 'active' })
      for (const field of ['cancelledAt', 'cancellationReason', 'endDate']) {
        expect(purchase).not.toHaveProperty(field)
      }
      expect(await shop.purchase(purchaseRef)).toEqual(whole)
      clock.set(after)
      expect(await shop.check(customerRef, productRef)).toMatchObject({ plan: planRef })
      const types = ['created', 'cancellation_scheduled', 'reactivated']
      expect(await typesOf(purchaseRef)).toEqual(types)
    })

    test.each([
      ['at the end', at],
      ['after it', after],
    ])('%s is too late', async (_, instant) => {
      const { purchaseRef } = await held()
      await shop.cancel(purchaseRef)
      clock.set(instant)
      const path = `/v1/sdk/purchases/${purchaseRef}/reactivate`
      const { message } = await shop.post<{ message: string }>(path, undefined, 400)
      // The message depends on whether the end was already processed.
      expect(message).toMatch(/already (ended|been fully cancelled)/)
    })

    test('refuses purchases that ended at once or were not cancelled', async () => {
      const ended = await held({ type: 'one-time', price: 0 })
      await shop.cancel(ended.purchaseRef)
      const { purchaseRef } = await held()
      const rows = [
        [ended.purchaseRef, 'already been fully cancelled'],
        [purchaseRef, 'not pending cancellation'],
      ] as const
      for (const [reference, words] of rows) {
        const path = `/v1/sdk/purchases/${reference}/reactivate`
        const { message } = await shop.post<{ message: string }>(path, undefined, 400)
        expect(message).toContain(words)
      }
    })

    test('works repeatedly within one second', async () => {
      const { purchaseRef } = await held()
      for (let round = 0; round < 3; round++) {
        const { purchase } = await shop.cancel(purchaseRef)
        expect(purchase).toMatchObject({ cancelledAt: iso, endDate: end })
        expect((await shop.reactivate(purchaseRef)).purchase).not.toHaveProperty('cancelledAt')
      }
      expect((await shop.purchase(purchaseRef)).nextBillingDate).toBe(end)
    })
  })
})

describe('sessions', () => {
  const opened = '2027-01-31T10:00:00.000Z'
  const [open, over] = ['2027-01-31T10:14:59.999Z', '2027-01-31T10:15:00.000Z']
  const sessions = '/v1/sdk/customers/customer-sessions'
  type Opened = { sessionId: string; customerUrl: string; checkoutUrl: string }

  test('of a customer expire after 15 minutes', async () => {
    const customerRef = await shop.newCustomer()
    const { sessionId, customerUrl } = await shop.post<Opened>(sessions, { customerRef }, 201)
    expect(customerUrl).toMatch(new RegExp(`/customer/manage\\?id=${sessionId}$`))
    const look = (): Promise<unknown> => shop.get(`${sessions}/${sessionId}`)
    const shown = { sessionId, customerUrl, createdAt: opened, expiresAt: over }
    clock.set(open)
    expect(await look()).toMatchObject({ ...shown, status: 'active' })
    clock.set(over)
    expect(await look()).toMatchObject({ ...shown, status: 'expired' })
  })

  test('of a checkout expire after 15 minutes, with one event', async () => {
    const { productRef, planRef } = await shop.sell({ price: 4900, setupFee: 100 })
    const request = { customerRef: await shop.newCustomer(), productRef, planRef }
    const path = '/v1/sdk/checkout-sessions'
    const { sessionId, checkoutUrl } = await shop.post<Opened>(path, request, 201)
    expect(checkoutUrl).toMatch(new RegExp(`/customer/checkout\\?id=${sessionId}$`))
    const created = Date.parse(opened) / 1000
    const told = { session_id: sessionId, url: checkoutUrl, created, expires_at: created + 900 }
    const money = { amount: 5000, currency: 'usd', plan: planRef, product: productRef }
    clock.set(open)
    const events = (): ReturnType<Shop['eventsOf']> => shop.eventsOf(sessionId)
    expect(await events()).toMatchObject([
      { type: 'checkout_session.created', object: { ...told, ...money, status: 'active' } },
    ])
    // The run at the exact moment may have been before this checkout.
    clock.set('2027-01-31T10:15:01.000Z')
    await vi.waitFor(async () => expect(await events()).toHaveLength(2), patience)
    expect((await events())[1]).toMatchObject({
      type: 'checkout_session.expired',
      object: { ...told, ...money, status: 'expired' },
      previous_attributes: null,
    })
  })

  test('are opened by limit checks on request, with the same URLs', async () => {
    const paid = await shop.sell({ price: 4900 })
    const byUse = await shop.sell({ ...byCredits, default: true })
    const customerRef = await shop.newCustomer()
    const ask = { includeCheckoutSession: true }
    const { checkoutUrl, checkoutSessionId } = await shop.check(customerRef, paid.productRef, ask)
    expect(checkoutUrl).toMatch(new RegExp(`/customer/checkout\\?id=${checkoutSessionId}$`))
    const { confirmationUrl } = await shop.check(customerRef, byUse.productRef, ask)
    expect(confirmationUrl).toMatch(/\/customer\/manage\?id=[0-9a-f]{32}$/)
  })

  test('are opened by activations in the same way', async () => {
    const customerRef = await shop.newCustomer()
    const given = await shop.activate(customerRef, await shop.sell({ price: 4900 }))
    expect(given.checkoutUrl).toMatch(`/customer/checkout?id=${given.checkoutSessionId}`)
  })
})
