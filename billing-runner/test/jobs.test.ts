import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { cancelPurchase } from '@tollgate/domain/purchases/cancel-purchase'
import { snapshotOf } from '@tollgate/domain/plans/plan-snapshot'
import { renewPurchase } from '@tollgate/domain/purchases/move-purchase'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import { schedulePlan } from '@tollgate/domain/purchases/schedule-plan'
import { openCheckoutSession } from '@tollgate/domain/sessions/checkout-sessions'
import {
  findCustomerSession,
  openCustomerSession,
} from '@tollgate/domain/sessions/customer-sessions'
import { changeTaxDetails, removeTaxDetails } from '@tollgate/domain/tax/tax-details-repository'
import { findTaxIdCheck } from '@tollgate/domain/tax/tax-id-checks-repository'
import { openTaxRegister } from '@tollgate/platform/tax-register/tax-register'
import {
  startTaxRegisterServer,
  stateAway,
  unregistered,
  type TaxRegisterServer,
} from '@tollgate/platform/testing/tax-register-server'
import type { Totals } from '../src/jobs/run-once.ts'
import { startRunnerStack, type RunnerStack, type Shop } from './runner-stack.ts'

const hosted = {
  hostedUrl: 'http://pay.test',
  limits: { openCheckoutsMax: 10, openPortalLinksMax: 10 },
}

let stack: RunnerStack
let shop: Shop
let register: TaxRegisterServer

beforeAll(async () => {
  register = await startTaxRegisterServer()
  const taxRegister = openTaxRegister({ taxRegisterUrl: register.url, taxRegisterTimeoutMs: 1_000 })
  stack = await startRunnerStack({ taxRegister: taxRegister! })
})
afterAll(async () => {
  await stack.stop()
  await register.close()
})
beforeEach(async () => {
  stack.clock.set('2026-01-31T12:00:00Z')
  shop = await stack.openShop()
})

/** Runs one job with the clock set to that time. */
const run = (name: string, at: string): Promise<Totals> => stack.runJob(name, at)

async function emittedTypes(): Promise<string[]> {
  return (await stack.events(shop)).map(({ type }) => type)
}

const now = (purchase: Purchase) => stack.purchase(shop, purchase.reference)

describe('renewals', () => {
  test('advance the billing date of a free plan by its anchor, one period at a time', async () => {
    const plan = await stack.addPlan(shop, { price: 0, billingCycle: 'monthly' })
    const purchase = await stack.buy(shop, plan)
    expect(purchase.nextBillingDate?.toISOString()).toBe('2026-02-28T12:00:00.000Z')

    await run('renewals', '2026-02-28T11:59:59Z')
    expect(await emittedTypes()).toEqual([])
    await run('renewals', '2026-02-28T12:00:00Z')
    expect((await now(purchase)).nextBillingDate?.toISOString()).toBe('2026-03-31T12:00:00.000Z')
    await run('renewals', '2026-02-28T12:00:01Z')
    expect(await emittedTypes()).toEqual(['purchase.renewed'])

    // No runner ran for two months.
    const totals = await run('renewals', '2026-05-01T10:00:00Z')
    expect(totals.get('done')).toBe(2)
    expect(await now(purchase)).toMatchObject({
      status: 'active',
      nextBillingDate: new Date('2026-05-31T12:00:00Z'),
    })
  })

  test('wait if they cost something and no payment processor is configured', async () => {
    const plan = await stack.addPlan(shop, { price: 900, billingCycle: 'monthly' })
    const purchase = await stack.buy(shop, plan)
    const totals = await run('renewals', '2026-03-01T10:00:00Z')
    expect([...totals]).toEqual([['postponed', 1]])
    expect((await now(purchase)).nextBillingDate).toEqual(purchase.nextBillingDate)
    expect((await run('renewals', '2026-03-02T10:00:00Z')).get('postponed')).toBe(1)
  })

  test('do not renew cancelled purchases', async () => {
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
    expect(await emittedTypes()).toEqual(['purchase.cancellation_scheduled', 'purchase.cancelled'])
  })
})

test('a purchase without renewal expires at the end of its period', async () => {
  const plan = await stack.addPlan(shop, { price: 0, billingCycle: 'weekly', autoRenew: false })
  const purchase = await stack.buy(shop, plan)
  await run('ended-purchases', '2026-02-07T11:59:59Z')
  expect(await emittedTypes()).toEqual([])
  await run('ended-purchases', '2026-02-07T12:00:00Z')
  expect(await now(purchase)).toMatchObject({ status: 'expired', autoRenew: false })
  expect(await emittedTypes()).toEqual(['purchase.expired'])
})

describe('trials', () => {
  const paid = { price: 900, billingCycle: 'monthly', trialDays: 14 } as const

  test('emit one reminder three days before their end', async () => {
    const purchase = await stack.startTrial(shop, await stack.addPlan(shop, paid))
    expect(purchase.anchor.toISOString()).toBe('2026-02-14T12:00:00.000Z')
    await run('reminders', '2026-02-11T11:59:59Z')
    expect(await emittedTypes()).toEqual([])
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

  test('are suspended at their end without a card', async () => {
    const purchase = await stack.startTrial(shop, await stack.addPlan(shop, paid))
    await run('trial-expiry', '2026-02-14T11:59:59Z')
    expect(await emittedTypes()).toEqual([])
    await run('trial-expiry', '2026-02-15T08:00:00Z')
    expect(await now(purchase)).toMatchObject({ status: 'suspended' })
    expect(await emittedTypes()).toEqual(['purchase.suspended'])
  })

  test('continue at their end if the plan is free', async () => {
    const plan = await stack.addPlan(shop, { ...paid, price: 0 })
    const purchase = await stack.startTrial(shop, plan)
    await run('trial-expiry', '2026-02-15T08:00:00Z')
    expect(await now(purchase)).toMatchObject({
      status: 'active',
      nextBillingDate: new Date('2026-03-14T12:00:00Z'),
    })
    expect(await emittedTypes()).toEqual(['purchase.updated'])
  })

  test('end with the trial if they were cancelled', async () => {
    const purchase = await stack.startTrial(shop, await stack.addPlan(shop, paid))
    stack.clock.set('2026-02-01T00:00:00Z')
    await stack.within(shop, (work) => cancelPurchase(work, purchase.reference, null))
    expect((await now(purchase)).endDate).toEqual(new Date('2026-02-14T12:00:00Z'))
    expect((await run('trial-expiry', '2026-02-15T08:00:00Z')).size).toBe(0)
    await run('ended-purchases', '2026-02-15T08:00:01Z')
    expect(await now(purchase)).toMatchObject({ status: 'cancelled' })
  })
})

test('a reminder is emitted three days before each renewal', async () => {
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

test('the last period of a purchase cancelled after its notice date gets one reminder', async () => {
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

test('a purchase cancelled in time gets no renewal reminder', async () => {
  const purchase = await stack.buy(
    shop,
    await stack.addPlan(shop, { price: 900, billingCycle: 'monthly' }),
  )
  stack.clock.set('2026-02-25T00:00:00Z')
  await stack.within(shop, (work) => cancelPurchase(work, purchase.reference, null))
  await run('reminders', '2026-02-26T00:00:00Z')
  expect(await stack.events(shop, /renewal_reminder/)).toEqual([])
})

test('the reminder of a renewal that changes the plan has the new plan and its amount', async () => {
  const monthly = { billingCycle: 'monthly' } as const
  const small = await stack.addPlan(shop, { price: 900, ...monthly })
  const big = await stack.addPlan(shop, { price: 4_900, setupFee: 100, ...monthly })
  const purchase = await stack.buy(shop, small, { originalAmountMinor: 900 })
  const at = new Date('2026-03-31T12:00:00Z')
  await stack.within(shop, (work) =>
    schedulePlan(work, purchase.reference, { plan: snapshotOf(big), at, termsAt: undefined }),
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
  test('emit an event with the bounds of each period that has begun', async () => {
    const plan = await stack.addPlan(shop, { price: 900, billingCycle: 'monthly' })
    const purchase = await stack.buy(shop, plan)
    await run('usage-reset', '2026-02-28T11:30:00Z')
    expect(await emittedTypes()).toEqual([])
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

  test('emit no event at a time that is not the end of a period', async () => {
    const plan = await stack.addPlan(shop, { price: 0, billingCycle: 'weekly' })
    const purchase = await stack.buy(shop, plan, { nextResetAt: new Date('2026-02-09T00:00:00Z') })
    await run('usage-reset', '2026-02-23T00:00:00Z')
    expect(await emittedTypes()).toEqual([])
    expect((await now(purchase)).nextResetAt).toEqual(new Date('2026-02-28T12:00:00Z'))
  })

  test('stop at the end of the purchase', async () => {
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

test('a checkout that was not completed emits one expiry event', async () => {
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
  expect(await emittedTypes()).toEqual([])
  await run('abandoned-checkouts', '2026-01-31T12:15:00Z')
  await run('abandoned-checkouts', '2026-01-31T12:16:00Z')
  const [event, ...others] = await stack.events(shop)
  expect(others).toEqual([])
  expect(event).toMatchObject({
    type: 'checkout_session.expired',
    object: { id: session.reference, status: 'expired', amount: 900, currency: 'usd' },
  })
})

test('a session is deleted a week after it expired', async () => {
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

describe('checks of tax ids', () => {
  const check = (taxId: string) =>
    stack.within(shop, ({ sql, providerId }) => findTaxIdCheck(sql, providerId, taxId))

  const enter = (customerRef: string, taxId: string) =>
    stack.within(shop, (work) =>
      changeTaxDetails(work, customerRef, { isBusiness: true, country: 'DE', taxId }),
    )

  async function newCustomer(): Promise<string> {
    const plan = await stack.addPlan(shop, { price: 0 })
    return (await stack.buy(shop, plan)).customerRef
  }

  test('ask about each tax id until it is answered, and then not before it is due', async () => {
    await enter(await newCustomer(), 'DE300000001')
    await enter(await newCustomer(), 'DE300000002')
    register.answers.set('DE300000001', stateAway)
    register.answers.set('DE300000002', unregistered)
    const totals = await run('tax-id-checks', '2026-01-31T12:00:00Z')
    expect(totals.get('done')).toBe(2)
    expect(await check('DE300000001')).toMatchObject({ status: 'unknown' })
    expect(await check('DE300000002')).toMatchObject({ status: 'invalid' })
    register.answers.clear()
    expect((await run('tax-id-checks', '2026-01-31T12:59:59Z')).size).toBe(0)
    expect((await run('tax-id-checks', '2026-01-31T13:00:00Z')).get('done')).toBe(1)
    expect(await check('DE300000001')).toMatchObject({ status: 'valid' })
  })

  test('remove the check of a tax id that no customer has any more, and do not ask the register', async () => {
    const customerRef = await newCustomer()
    await enter(customerRef, 'DE300000003')
    await run('tax-id-checks', '2026-01-31T12:00:00Z')
    await enter(customerRef, 'DE300000004')
    await run('tax-id-checks', '2026-01-31T12:00:01Z')
    await run('tax-id-checks', '2026-05-01T12:00:01Z')
    expect(await check('DE300000003')).toBeUndefined()
    expect(await check('DE300000004')).toMatchObject({ status: 'valid' })
    const asked = register.requests.filter((path) => path.includes('300000003'))
    expect(asked).toHaveLength(1)
    await stack.within(shop, ({ sql, providerId }) =>
      removeTaxDetails(sql, providerId, customerRef),
    )
    expect(await check('DE300000004')).toBeUndefined()
  })
})
