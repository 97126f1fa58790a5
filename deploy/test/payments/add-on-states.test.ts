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
