import { afterAll, beforeEach, expect, test } from 'vitest'
import { changeAddOns } from '@tollgate/domain/billing/change-add-ons'
import { runUnitOfWork } from '@tollgate/domain/unit-of-work/run-unit-of-work'
import { jobActor } from '@tollgate/domain/audit/actor'
import { AddOnShop } from './add-on-shop.ts'
import { HostedPages } from './hosted-pages.ts'

/* Add-ons while purchases are refunded, unpaid, cancelled, in a trial, discounted or moved, and in the portal. */

const shop = await AddOnShop.start()
const { stack, payments } = shop
const { renewals } = stack
const pages = new HostedPages(payments)
const small = await stack.createPlan({ name: 'Small', price: 3_000, limit: 1_000 })
const plain = await stack.createPlan({ name: 'Plain', price: 3_000 })
afterAll(() => stack.stop())
beforeEach(() => stack.reset())

const sixteenth = '2026-06-16T00:00:00Z'
const july = '2026-07-01T10:00:00Z'

const calls = await shop.create({
  ...{ name: 'Extra calls', price: 1_500, planRefs: [small] },
  raises: [{ meter: 'requests', raises: 'limit', units: 300 }],
})
const support = await shop.create({ name: 'Support', price: 600, planRefs: [small, plain] })

test('a limit check has the units at once, and loses them with the refund of the payment', async () => {
  const { reference, customerRef } = await renewals.buy(small)
  expect(await shop.check(customerRef)).toMatchObject({ remaining: 1_000 })
  const { body } = await shop.set(reference, calls, 1)
  expect(await shop.check(customerRef)).toMatchObject({ remaining: 1_300 })
  const refund = { to: 'balance', reason: 'by mistake' }
  const refunded = await payments.call('POST', `/v1/ui/invoices/${body.invoiceRef}/refunds`, refund)
  expect(refunded.status, JSON.stringify(refunded.body)).toBe(200)
  const held = await stack.held(customerRef)
  expect(held.reference).toBe(reference)
  expect(await shop.check(customerRef)).toMatchObject({ remaining: 1_000 })
})

test.each([[false], [true]])(
  'a refund of an add-on keeps a later removal of another one, and a choice of plan: %s',
  async (choosesPlan) => {
    const other = await stack.createPlan({ price: 2_000, prorationPolicy: 'none' })
    const kept = await shop.create({ name: 'Kept', price: 700, planRefs: [plain, other] })
    const bought = await renewals.buy(plain)
    const { customerRef } = bought
    const first = await shop.set(bought.reference, support, 2)
    const both = await shop.set(first.body.purchase.reference, kept, 1)
    const more = await shop.set(both.body.purchase.reference, support, 3)
    const heldRef = more.body.purchase.reference
    await shop.remove(heldRef, support)
    if (choosesPlan) {
      const request = { customerRef, productRef: payments.productRef, planRef: other }
      await payments.call('POST', '/v1/sdk/activate', request)
    }
    const refund = { to: 'balance', reason: 'by mistake' }
    await payments.call('POST', `/v1/ui/invoices/${more.body.invoiceRef}/refunds`, refund)
    const held = await stack.held(customerRef)
    expect(held.reference).toBe(both.body.purchase.reference)
    expect(held.planSnapshot?.terms.addOns?.attached).toMatchObject([
      { reference: support, quantity: 2 },
      { reference: kept, quantity: 1 },
    ])
    await stack.changeAndRenew(july)
    const renewed = await stack.held(customerRef)
    const [lines = []] = await shop.linesOf(renewed.reference)
    expect(lines.slice(0, 2)).toEqual([
      ['recurring', choosesPlan ? 2_000n : 3_000n],
      ['add_on', 700n],
    ])
  },
)

test('a change of add-ons sends no email about new terms, and a change of plan does', async () => {
  const { sql } = renewals
  const { providerId } = payments.tenant
  const kinds = ['plan_changed', 'receipt']
  await payments.call('PATCH', '/v1/ui/email-settings', { kinds })
  const planRef = await stack.createPlan({ price: 3_000 })
  const addOn = await shop.create({ name: 'Quiet', price: 700, planRefs: [planRef] })
  const { reference, customerRef } = await renewals.buy(planRef)
  const { body } = await shop.set(reference, addOn, 2)
  await shop.set(body.purchase.reference, addOn, 1, 'renewal')
  await stack.changeAndRenew(july)
  const emails = () => sql<{ kind: string; total: number }[]>`
    select kind, count(*)::int as total from emails
    where provider_id = ${providerId} and customer_ref = ${customerRef} group by kind order by kind`
  expect(await emails()).toEqual([{ kind: 'receipt', total: 3 }])
  await stack.changePlan(planRef, { price: 4_000 })
  await stack.migrate(planRef, { when: 'renewal' })
  await stack.process('2026-07-02T00:00:00Z')
  await stack.changeAndRenew('2026-08-01T10:00:00Z')
  expect(await emails()).toEqual([
    { kind: 'plan_changed', total: 1 },
    { kind: 'receipt', total: 4 },
  ])
  await payments.call('PATCH', '/v1/ui/email-settings', { kinds: [] })
})

test('a part of the payment that is refunded leaves the add-on', async () => {
  const { reference, customerRef } = await renewals.buy(small)
  const { body } = await shop.set(reference, calls, 1)
  const refund = { to: 'balance', reason: 'sorry', amount: 100 }
  await payments.call('POST', `/v1/ui/invoices/${body.invoiceRef}/refunds`, refund)
  expect((await stack.held(customerRef)).reference).toBe(body.purchase.reference)
})

test('a declined charge leaves an open invoice, which makes the purchase past due and is paid once', async () => {
  const { reference, customerRef } = await renewals.buy(plain)
  await renewals.replaceCard(customerRef, 'pm_card_chargeCustomerFail')
  const { body } = await shop.set(reference, support, 1)
  expect(body).toMatchObject({ payment: 'open' })
  await renewals.runJob('payment-retries', '2026-06-01T01:00:00Z')
  const held = await stack.held(customerRef)
  expect(held.status).toBe('past_due')
  expect(await shop.set(held.reference, support, 2)).toMatchObject({ status: 409 })
  await renewals.replaceCard(customerRef, 'pm_card_visa')
  for (const at of ['2026-06-04T00:00:00Z', '2026-06-08T00:00:00Z', '2026-06-15T00:00:00Z']) {
    await renewals.runJob('payment-retries', at)
  }
  expect(await stack.held(customerRef)).toMatchObject({ status: 'active' })
  expect(await renewals.succeededChargesOf(held.reference)).toBe(1)
})

test('a death between the change and its charge leaves the invoice to the runner, which charges it once', async () => {
  const { reference, customerRef } = await renewals.buy(plain)
  const { providerId } = payments.tenant
  const { database, clock } = payments.stack
  const by = { actor: jobActor('test'), requestId: null, idempotencyKey: null }
  const now = new Date(clock.now())
  const operation = { ...by, providerId, environment: 'sandbox', now } as const
  const change = { purchaseRef: reference, addOnRef: support, quantity: 1, when: 'now' } as const
  await runUnitOfWork(database, operation, (work) => changeAddOns(work, change, { name: 'Acme' }))
  const held = await stack.held(customerRef)
  await renewals.runJob('payment-retries', '2026-06-01T01:00:00Z')
  await renewals.runJob('payment-retries', '2026-06-01T02:00:00Z')
  expect(await renewals.invoicesOf(held.reference)).toMatchObject([{ status: 'paid' }])
  expect(await renewals.succeededChargesOf(held.reference)).toBe(1)
  // The client does not know whether its request was processed, and repeats it.
  const again = await shop.set(held.reference, support, 1)
  expect(again.body.purchase.reference).toBe(held.reference)
})

test('an add-on is free in a trial and raises limits with the first paid period', async () => {
  const { reference, customerRef } = await renewals.buy(small)
  await renewals.asTrial(reference, sixteenth)
  const { body } = await shop.set(reference, calls, 1)
  expect(body.purchase.reference).toBe(reference)
  expect(body.invoiceRef).toBeUndefined()
  expect(await shop.check(customerRef)).toMatchObject({ remaining: 1_000 })
  await renewals.runJob('trial-expiry', '2026-06-16T01:00:00Z')
  expect((await stack.held(customerRef)).status).toBe('active')
  const [lines = []] = await shop.linesOf(reference)
  expect(lines).toContainEqual(['add_on', 1_500n])
  expect(await shop.check(customerRef)).toMatchObject({ remaining: 1_300 })
})

test('a trial that moves to new terms keeps its own units, and owes the fees of the add-ons that stay', async () => {
  const trialed = await stack.createPlan({ price: 3_000, setupFee: 500, trialDays: 14, limit: 100 })
  const next = await stack.createPlan({ price: 4_000, trialDays: 14, limit: 200 })
  const units = await shop.create({
    ...{ name: 'Units', price: 1_500, setupFee: 300, planRefs: [trialed, next] },
    raises: [{ meter: 'requests', raises: 'limit', units: 10_000 }],
  })
  const dropped = await shop.create({
    ...{ name: 'Dropped', price: 700, setupFee: 900, planRefs: [trialed] },
  })
  const { reference, customerRef } = await stack.startTrial(trialed)
  await shop.set(reference, units, 1)
  await shop.set(reference, dropped, 1)
  expect(await shop.check(customerRef)).toMatchObject({ remaining: 100 })
  stack.setTime('2026-06-05T00:00:00Z')
  await stack.migrate(trialed, { when: 'now', toPlanRef: next })
  await stack.process('2026-06-05T00:00:00Z')
  await renewals.runJob('plan-changes', '2026-06-05T01:00:00Z')
  expect(await stack.held(customerRef)).toMatchObject({ status: 'trialing', planRef: next })
  expect(await shop.check(customerRef)).toMatchObject({ remaining: 200 })
  await renewals.runJob('trial-expiry', '2026-06-15T06:00:00Z')
  const held = await stack.held(customerRef)
  const [lines = []] = await shop.linesOf(held.reference)
  expect(lines.toSorted(([one], [other]) => one.localeCompare(other))).toEqual([
    ['add_on', 1_500n],
    ['recurring', 4_000n],
    ['setup_fee', 500n],
    ['setup_fee', 300n],
  ])
  expect(await shop.check(customerRef)).toMatchObject({ remaining: 10_200 })
})

test('a trial that moves to charges gets the units of its add-ons when they are paid', async () => {
  const trialed = await stack.createPlan({ price: 3_000, trialDays: 14, limit: 100 })
  const charges = [{ meter: 'requests', included: 100, cap: 500, price: '10' }]
  const metered = await stack.createPlan({
    ...{ name: 'Charged', type: 'hybrid', billingModel: 'post-paid', basePrice: 3_000, charges },
    trialDays: 14,
  })
  const more = await shop.create({
    ...{ name: 'More', price: 900, setupFee: 100, maxQuantity: 2, planRefs: [trialed, metered] },
    raises: [{ meter: 'requests', raises: 'limit', units: 10_000 }],
  })
  const other = await shop.create({ name: 'Other', price: 300, planRefs: [trialed, metered] })
  const { reference, customerRef } = await stack.startTrial(trialed)
  await shop.set(reference, more, 2)
  await shop.set(reference, other, 1)
  stack.setTime('2026-06-05T00:00:00Z')
  await stack.migrate(trialed, { when: 'now', toPlanRef: metered })
  await stack.process('2026-06-05T00:00:00Z')
  await renewals.runJob('plan-changes', '2026-06-05T01:00:00Z')
  const trial = await stack.held(customerRef)
  expect(trial).toMatchObject({ status: 'trialing', planRef: metered })
  expect(trial.planSnapshot?.terms).toMatchObject({
    ...{ charges: [{ cap: 500 }], addOns: { attached: [{ reference: other }] } },
  })
  // A quantity that waits for the end of the trial can only be reduced. Other add-ons change within the trial.
  expect(await shop.set(trial.reference, more, 3)).toMatchObject({ status: 409 })
  expect(await shop.set(trial.reference, more, 1)).toMatchObject({ status: 200 })
  const { body } = await shop.set(trial.reference, other, 2)
  expect(body.purchase).toMatchObject({
    planSnapshot: { addOns: [{ reference: other, quantity: 2 }] },
    scheduledPlan: { addOns: [{ quantity: 1 }, { quantity: 2 }] },
  })
  await renewals.runJob('trial-expiry', '2026-06-15T06:00:00Z')
  await renewals.runJob('trial-expiry', '2026-06-15T06:00:00Z')
  const held = await stack.held(customerRef)
  expect(held.planSnapshot?.terms.charges).toMatchObject([{ cap: 10_500 }])
  const [lines = []] = await shop.linesOf(held.reference)
  expect(lines.toSorted(([, one], [, other]) => Number(one - other))).toEqual([
    ['setup_fee', 100n],
    ['add_on', 600n],
    ['add_on', 900n],
    ['recurring', 3_000n],
  ])
})

test('a plan with charges has the units of the whole period, which are charged in full', async () => {
  const meter = { name: 'tokens', type: 'sum' }
  await payments.call('POST', '/v1/ui/meters', meter)
  const charges = [{ meter: 'requests', included: 100, cap: 500, price: '10' }]
  const metered = await stack.createPlan({
    ...{ name: 'Metered', type: 'hybrid', billingModel: 'post-paid', basePrice: 3_000, charges },
  })
  const more = await shop.create({
    ...{ name: 'More', price: 900, planRefs: [metered] },
    raises: [{ meter: 'requests', raises: 'included', units: 50 }],
  })
  const { reference, customerRef } = await renewals.buy(metered)
  stack.setTime(sixteenth)
  const { status, body } = await shop.set(reference, more, 2)
  expect(status, JSON.stringify(body)).toBe(200)
  const held = await stack.held(customerRef)
  expect(held.planSnapshot?.terms.charges).toMatchObject([{ included: 200, cap: 600 }])
  expect(await stack.totalsOf(held.reference)).toEqual([1_800n])
  expect(await shop.remove(held.reference, more, 'now')).toMatchObject({ status: 409 })
})

test('a percentage coupon discounts the change and the renewal', async () => {
  const { reference, customerRef } = await renewals.buy(plain)
  const coupon = { name: 'Half', percentOff: 50, duration: 'forever' }
  const made = await payments.call<{ reference: string }>('POST', '/v1/ui/coupons', coupon)
  const given = { couponRef: made.body.reference }
  await payments.call('POST', `/v1/ui/customers/${customerRef}/discounts`, given)
  // The running period was paid without the coupon, and so is what is added to it.
  await shop.set(reference, support, 1)
  const held = await stack.held(customerRef)
  expect(await stack.totalsOf(held.reference)).toEqual([600n])
  await stack.changeAndRenew(july)
  expect(await stack.totalsOf(held.reference)).toEqual([1_800n, 600n])
  stack.setTime('2026-07-16T12:00:00Z')
  await shop.set(held.reference, support, 3)
  const more = await stack.held(customerRef)
  // Half of 12 dollars, for 15.5 of 31 days.
  expect(await shop.linesOf(more.reference)).toEqual([
    [
      ['proration', 600n],
      ['discount', -300n],
    ],
  ])
})

test('a cancelled purchase changes no add-ons, and ends with them', async () => {
  const { reference, customerRef } = await renewals.buy(plain)
  await shop.set(reference, support, 1)
  const held = await stack.held(customerRef)
  await payments.call('POST', `/v1/sdk/purchases/${held.reference}/cancel`, {})
  expect(await shop.set(held.reference, support, 2)).toMatchObject({ status: 409 })
  await payments.call('POST', `/v1/sdk/purchases/${held.reference}/reactivate`, {})
  expect(await shop.set(held.reference, support, 1)).toMatchObject({ status: 200 })
})

test('a cancellation that comes too late for its notice keeps what was chosen for the last period', async () => {
  const planRef = await stack.createPlan({ price: 3_000, cancellationNoticeDays: 7 })
  const other = await stack.createPlan({ price: 4_000, prorationPolicy: 'none' })
  const addOn = await shop.create({ name: 'Left', price: 500, planRefs: [planRef, other] })
  for (const [choosesPlan, isReactivated] of [
    [false, false],
    [true, true],
  ]) {
    stack.setTime('2026-06-01T00:00:00Z')
    const { reference, customerRef } = await renewals.buy(planRef)
    const attached = await shop.set(reference, addOn, 1)
    const heldRef = attached.body.purchase.reference
    await shop.remove(heldRef, addOn)
    if (choosesPlan) {
      const request = { customerRef, productRef: payments.productRef, planRef: other }
      await payments.call('POST', '/v1/sdk/activate', request)
    }
    stack.setTime('2026-06-28T00:00:00Z')
    const cancelled = await payments.call('POST', `/v1/sdk/purchases/${heldRef}/cancel`, {})
    expect(cancelled.status, JSON.stringify(cancelled.body)).toBe(200)
    const { body } = await payments.call<{ invoices: { total: number }[] }>(
      'POST',
      `/v1/sdk/purchases/${heldRef}/cancel-preview`,
      {},
    )
    expect(body.invoices).toMatchObject([{ total: 3_000 }])
    await renewals.runJob('renewals', july)
    await renewals.runJob('renewals', july)
    const last = await stack.held(customerRef)
    expect(last).toMatchObject({
      ...{ replaces: heldRef, autoRenew: false, nextBillingDate: null },
      ...{
        cancelledAt: new Date('2026-06-28T00:00:00Z'),
        endDate: new Date('2026-08-01T00:00:00Z'),
      },
    })
    expect(await shop.linesOf(last.reference)).toEqual([[['recurring', 3_000n]]])
    if (isReactivated) {
      await payments.call('POST', `/v1/sdk/purchases/${last.reference}/reactivate`, {})
      await stack.changeAndRenew('2026-08-01T10:00:00Z')
      const next = await stack.held(customerRef)
      expect(next.planRef).toBe(other)
      expect(await shop.linesOf(next.reference)).toEqual([[['recurring', 4_000n]]])
    } else {
      await renewals.runJob('ended-purchases', '2026-08-01T10:00:00Z')
      const ended = await renewals.purchase(last.reference)
      expect(ended).toMatchObject({
        status: 'cancelled',
        endedAt: new Date('2026-08-01T00:00:00Z'),
      })
    }
  }
})

test('a migration to new terms keeps the add-ons', async () => {
  const planRef = await stack.createPlan({ name: 'Moved', price: 3_000 })
  const addOn = await shop.create({ name: 'Kept', price: 500, planRefs: [planRef] })
  const { reference, customerRef } = await renewals.buy(planRef)
  await shop.set(reference, addOn, 1)
  await stack.changePlan(planRef, { price: 4_000 })
  await stack.migrate(planRef, { when: 'renewal' })
  await stack.process('2026-06-02T00:00:00Z')
  await stack.changeAndRenew(july)
  const held = await stack.held(customerRef)
  expect(await shop.linesOf(held.reference)).toEqual([
    [
      ['recurring', 4_000n],
      ['add_on', 500n],
    ],
  ])
})

test('an add-on that a customer had is archived, and stays with its purchases', async () => {
  const addOn = await shop.create({ name: 'Old', price: 500, planRefs: [plain] })
  const { reference, customerRef } = await renewals.buy(plain)
  await shop.set(reference, addOn, 1)
  const path = `/v1/sdk/products/${payments.productRef}/add-ons/${addOn}`
  expect((await payments.call('DELETE', path)).body).toMatchObject({ archived: true })
  const other = await renewals.buy(plain)
  expect(await shop.set(other.reference, addOn, 1)).toMatchObject({ status: 409 })
  await stack.changeAndRenew(july)
  const held = await stack.held(customerRef)
  expect(await stack.totalsOf(held.reference)).toEqual([3_500n, 500n])
})

test('a customer sees what a change costs in the portal, and makes it', async () => {
  const { reference, customerRef } = await renewals.buy(plain)
  stack.setTime(sixteenth)
  const portal = await pages.openPortal(customerRef)
  const path = `/purchases/${reference}/add-ons`
  expect((await pages.visit(portal, path)).text).toContain('Support')
  const choice = { addOn: support, quantity: '2', when: 'now' }
  const query = new URLSearchParams(choice).toString()
  const review = await pages.visit(portal, `${path}/review?${query}`)
  expect(review.text).toContain('$6.00 is charged today')
  expect(review.text).toContain('$42.00 per period')
  const { location } = await pages.visit(portal, path, choice)
  expect(location).toContain('done=changed')
  const held = await stack.held(customerRef)
  expect(await stack.totalsOf(held.reference)).toEqual([600n])
  const foreign = { ...choice, addOn: calls }
  expect(
    (await pages.visit(portal, `/purchases/${held.reference}/add-ons`, foreign)).status,
  ).not.toBe(303)
})
