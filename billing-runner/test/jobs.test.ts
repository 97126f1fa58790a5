import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { cancelPurchase } from '@tollgate/domain/purchases/cancel-purchase'
import { snapshotOf } from '@tollgate/domain/plans/plan-snapshot'
import { renewPurchase } from '@tollgate/domain/purchases/renew-purchase'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import { schedulePlan } from '@tollgate/domain/purchases/schedule-plan'
import { openCheckoutSession } from '@tollgate/domain/sessions/checkout-sessions'
import {
  findCustomerSession,
  openCustomerSession,
} from '@tollgate/domain/sessions/customer-sessions'
import type { Totals } from '../src/jobs/run-once.ts'
import { startRunnerStack, type RunnerStack, type Shop } from './runner-stack.ts'

const hosted = {
  hostedUrl: 'http://pay.test',
  limits: { openCheckoutsMax: 10, openPortalLinksMax: 10 },
}

let stack: RunnerStack
let shop: Shop

beforeAll(async () => {
  stack = await startRunnerStack()
})
afterAll(() => stack.stop())
beforeEach(async () => {
  stack.clock.set('2026-01-31T12:00:00Z')
  shop = await stack.openShop()
})

/** Runs one job at that time, which the clock then has. */
const run = (name: string, at: string): Promise<Totals> => stack.runJob(name, at)

async function told(): Promise<string[]> {
  return (await stack.events(shop)).map(({ type }) => type)
}

const now = (purchase: Purchase) => stack.purchase(shop, purchase.reference)

describe('renewals', () => {
  test('of a free plan advance the billing date by its anchor, one period at a time', async () => {
    const plan = await stack.addPlan(shop, { price: 0, billingCycle: 'monthly' })
    const purchase = await stack.buy(shop, plan)
    expect(purchase.nextBillingDate?.toISOString()).toBe('2026-02-28T12:00:00.000Z')

    await run('renewals', '2026-02-28T11:59:59Z')
    expect(await told()).toEqual([])
    await run('renewals', '2026-02-28T12:00:00Z')
    expect((await now(purchase)).nextBillingDate?.toISOString()).toBe('2026-03-31T12:00:00.000Z')
    await run('renewals', '2026-02-28T12:00:01Z')
    expect(await told()).toEqual(['purchase.renewed'])

    // Nobody ran for two months.
    const totals = await run('renewals', '2026-05-01T10:00:00Z')
    expect(totals.get('done')).toBe(2)
    expect(await now(purchase)).toMatchObject({
      status: 'active',
      nextBillingDate: new Date('2026-05-31T12:00:00Z'),
    })
  })

  test('that cost something wait as long as nothing can be charged', async () => {
    const plan = await stack.addPlan(shop, { price: 900, billingCycle: 'monthly' })
    const purchase = await stack.buy(shop, plan)
    const totals = await run('renewals', '2026-03-01T10:00:00Z')
    expect([...totals]).toEqual([['postponed', 1]])
    expect((await now(purchase)).nextBillingDate).toEqual(purchase.nextBillingDate)
    expect((await run('renewals', '2026-03-02T10:00:00Z')).get('postponed')).toBe(1)
  })

  test('leave alone what was cancelled', async () => {
    const plan = await stack.addPlan(shop, { price: 0, billingCycle: 'monthly' })
    const purchase = await stack.buy(shop, plan)
    await stack.within(shop, (work) => cancelPurchase(work, purchase.reference, null))
    expect((await run('renewals', '2026-03-01T10:00:00Z')).get('done')).toBeUndefined()
    await run('ended-purchases', '2026-02-28T11:59:59.999Z')
    expect(await now(purchase)).toMatchObject({ status: 'active' })
    await run('ended-purchases', '2026-03-01T10:00:01Z')
    expect(await now(purchase)).toMatchObject({
      status: 'cancelled',
      endedAt: new Date('2026-02-28T12:00:00Z'),
    })
    expect(await told()).toEqual(['purchase.cancellation_scheduled', 'purchase.cancelled'])
  })
})

test('what does not renew expires with its period', async () => {
  const plan = await stack.addPlan(shop, { price: 0, billingCycle: 'weekly', autoRenew: false })
  const purchase = await stack.buy(shop, plan)
  await run('ended-purchases', '2026-02-07T11:59:59Z')
  expect(await told()).toEqual([])
  await run('ended-purchases', '2026-02-07T12:00:00Z')
  expect(await now(purchase)).toMatchObject({ status: 'expired', autoRenew: false })
  expect(await told()).toEqual(['purchase.expired'])
})

describe('trials', () => {
  const paid = { price: 900, billingCycle: 'monthly', trialDays: 14 } as const

  test('are told of three days before, once', async () => {
    const purchase = await stack.tryOut(shop, await stack.addPlan(shop, paid))
    expect(purchase.anchor.toISOString()).toBe('2026-02-14T12:00:00.000Z')
    await run('reminders', '2026-02-11T11:59:59Z')
    expect(await told()).toEqual([])
    await run('reminders', '2026-02-11T12:00:00Z')
    await run('reminders', '2026-02-12T12:00:00Z')
    const [event, ...others] = await stack.events(shop)
    expect(others).toEqual([])
    expect(event).toMatchObject({
      type: 'purchase.trial_ending',
      object: {
        id: purchase.reference,
        status: 'trialing',
        trialEndsAt: Date.parse('2026-02-14T12:00:00Z') / 1000,
      },
    })
  })

  test('without anything to pay with are suspended', async () => {
    const purchase = await stack.tryOut(shop, await stack.addPlan(shop, paid))
    await run('trial-expiry', '2026-02-14T11:59:59Z')
    expect(await told()).toEqual([])
    await run('trial-expiry', '2026-02-15T08:00:00Z')
    expect(await now(purchase)).toMatchObject({ status: 'suspended' })
    expect(await told()).toEqual(['purchase.suspended'])
  })

  test('of what costs nothing go on', async () => {
    const plan = await stack.addPlan(shop, { ...paid, price: 0 })
    const purchase = await stack.tryOut(shop, plan)
    await run('trial-expiry', '2026-02-15T08:00:00Z')
    expect(await now(purchase)).toMatchObject({
      status: 'active',
      nextBillingDate: new Date('2026-03-14T12:00:00Z'),
    })
    expect(await told()).toEqual(['purchase.updated'])
  })

  test('that were cancelled end where the trial does', async () => {
    const purchase = await stack.tryOut(shop, await stack.addPlan(shop, paid))
    stack.clock.set('2026-02-01T00:00:00Z')
    await stack.within(shop, (work) => cancelPurchase(work, purchase.reference, null))
    expect((await now(purchase)).endDate).toEqual(new Date('2026-02-14T12:00:00Z'))
    expect((await run('trial-expiry', '2026-02-15T08:00:00Z')).size).toBe(0)
    await run('ended-purchases', '2026-02-15T08:00:01Z')
    expect(await now(purchase)).toMatchObject({ status: 'cancelled' })
  })
})

test('a renewal is told of three days before, again for each', async () => {
  const plan = await stack.addPlan(shop, { price: 0, billingCycle: 'monthly' })
  await stack.buy(shop, plan)
  await run('reminders', '2026-02-26T00:00:00Z')
  await run('reminders', '2026-02-27T00:00:00Z')
  await run('renewals', '2026-03-01T10:00:00Z')
  await run('reminders', '2026-03-30T10:00:00Z')
  const events = await stack.events(shop, /renewal_reminder/)
  expect(events.map(({ object }) => object['nextBillingAt'])).toEqual([
    Date.parse('2026-02-28T12:00:00Z') / 1000,
    Date.parse('2026-03-31T12:00:00Z') / 1000,
  ])
})

test('the last period of a purchase that was cancelled too late for its notice is reminded of once', async () => {
  const terms = { price: 900, billingCycle: 'monthly', cancellationNoticeDays: 7 } as const
  const purchase = await stack.buy(shop, await stack.addPlan(shop, terms))
  stack.clock.set('2026-02-25T00:00:00Z')
  await stack.within(shop, (work) => cancelPurchase(work, purchase.reference, null))
  await run('reminders', '2026-02-26T00:00:00Z')
  await run('reminders', '2026-02-27T00:00:00Z')
  const events = await stack.events(shop, /renewal_reminder/)
  expect(events).toMatchObject([
    { object: { nextBillingAt: Date.parse('2026-02-28T12:00:00Z') / 1000 } },
  ])
})

test('a purchase that was cancelled in time is not reminded of a renewal', async () => {
  const purchase = await stack.buy(
    shop,
    await stack.addPlan(shop, { price: 900, billingCycle: 'monthly' }),
  )
  stack.clock.set('2026-02-25T00:00:00Z')
  await stack.within(shop, (work) => cancelPurchase(work, purchase.reference, null))
  await run('reminders', '2026-02-26T00:00:00Z')
  expect(await stack.events(shop, /renewal_reminder/)).toEqual([])
})

test('a renewal that changes the plan is told of with the plan and the amount that it charges', async () => {
  const monthly = { billingCycle: 'monthly' } as const
  const small = await stack.addPlan(shop, { price: 900, ...monthly })
  const big = await stack.addPlan(shop, { price: 4_900, setupFee: 100, ...monthly })
  const purchase = await stack.buy(shop, small, { originalAmountMinor: 900 })
  const at = new Date('2026-03-31T12:00:00Z')
  await stack.within(shop, (work) =>
    schedulePlan(work, purchase.reference, { plan: snapshotOf(big), at }),
  )
  await run('reminders', '2026-02-26T00:00:00Z')
  await stack.within(shop, (work) =>
    renewPurchase(work, purchase, { index: 1, start: purchase.nextBillingDate!, end: at }),
  )
  await run('reminders', '2026-03-30T00:00:00Z')
  const events = await stack.events(shop, /renewal_reminder/)
  expect(events.map(({ object }) => [object['plan'], object['amount']])).toEqual([
    [small.reference, 900],
    [big.reference, 5_000],
  ])
})

describe('usage resets', () => {
  test('tell of every period that has begun, with its bounds', async () => {
    const plan = await stack.addPlan(shop, { price: 900, billingCycle: 'monthly' })
    const purchase = await stack.buy(shop, plan)
    await run('usage-reset', '2026-02-28T11:30:00Z')
    expect(await told()).toEqual([])
    await run('usage-reset', '2026-04-01T00:00:00Z')
    const events = await stack.events(shop)
    expect(events.map(({ object }) => [object['periodStart'], object['periodEnd']])).toEqual(
      [
        ['2026-02-28T12:00:00Z', '2026-03-31T12:00:00Z'],
        ['2026-03-31T12:00:00Z', '2026-04-30T12:00:00Z'],
      ].map((bounds) => bounds.map((bound) => Date.parse(bound) / 1000)),
    )
    expect(events[0]).toMatchObject({
      type: 'usage.reset',
      object: { purchase: purchase.reference },
    })
    expect((await now(purchase)).nextResetAt).toEqual(new Date('2026-04-30T12:00:00Z'))
  })

  test('say nothing about a moment that is no end of a period', async () => {
    const plan = await stack.addPlan(shop, { price: 0, billingCycle: 'weekly' })
    const purchase = await stack.buy(shop, plan, { nextResetAt: new Date('2026-02-09T00:00:00Z') })
    await run('usage-reset', '2026-02-23T00:00:00Z')
    expect(await told()).toEqual([])
    expect((await now(purchase)).nextResetAt).toEqual(new Date('2026-02-28T12:00:00Z'))
  })

  test('stop with the end of the purchase', async () => {
    const plan = await stack.addPlan(shop, { price: 0, billingCycle: 'weekly' })
    const purchase = await stack.buy(shop, plan)
    stack.clock.set('2026-02-08T00:00:00Z')
    await stack.within(shop, (work) => cancelPurchase(work, purchase.reference, null))
    await run('usage-reset', '2026-02-20T00:00:00Z')
    expect((await stack.events(shop, /usage/)).map(({ object }) => object['periodEnd'])).toEqual([
      Date.parse('2026-02-14T12:00:00Z') / 1000,
    ])
    expect((await now(purchase)).nextResetAt).toBeNull()
  })
})

test('a checkout that nobody completed is told of once, when its time is up', async () => {
  const plan = await stack.addPlan(shop, { price: 900, billingCycle: 'monthly' })
  const { customerRef } = await stack.buy(shop, plan)
  const session = await stack.within(shop, (work) =>
    openCheckoutSession(work, hosted, {
      customerRef,
      purpose: 'product',
      productRef: shop.product.reference,
      plan,
      returnUrl: null,
      mayChangePlan: true,
    }),
  )
  await run('abandoned-checkouts', '2026-01-31T12:14:59.999Z')
  expect(await told()).toEqual([])
  await run('abandoned-checkouts', '2026-01-31T12:15:00Z')
  await run('abandoned-checkouts', '2026-01-31T12:16:00Z')
  const [event, ...others] = await stack.events(shop)
  expect(others).toEqual([])
  expect(event).toMatchObject({
    type: 'checkout_session.expired',
    object: { id: session.reference, status: 'expired', amount: 900, currency: 'usd' },
  })
})

test('a session that expired a week ago is forgotten', async () => {
  const plan = await stack.addPlan(shop, { price: 0 })
  const { customerRef } = await stack.buy(shop, plan)
  const pool = stack.database.in('sandbox')
  const { sessionId } = await stack.within(shop, (work) =>
    openCustomerSession(work, hosted.limits, { customerRef, productRef: null }),
  )
  await run('clean-up', '2026-02-07T12:15:00Z')
  expect(await findCustomerSession(pool, shop.providerId, sessionId)).toBeDefined()
  await run('clean-up', '2026-02-07T12:15:00.001Z')
  expect(await findCustomerSession(pool, shop.providerId, sessionId)).toBeUndefined()
})
