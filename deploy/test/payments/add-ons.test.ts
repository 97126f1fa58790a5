import { afterAll, beforeEach, expect, test } from 'vitest'
import { AddOnShop } from './add-on-shop.ts'

/* Add-ons of purchases that were paid for June, 30 days. */

const shop = await AddOnShop.start()
const { stack } = shop
const { renewals, payments } = stack
const small = await stack.createPlan({ name: 'Small', price: 3_000, limit: 1_000 })
const big = await stack.createPlan({ name: 'Big', price: 9_000, limit: 5_000 })
const plain = await stack.createPlan({ name: 'Plain', price: 3_000 })
afterAll(() => stack.stop())
beforeEach(() => stack.reset())

const eleventh = '2026-06-11T00:00:00Z'
const twentyFirst = '2026-06-21T00:00:00Z'
const july = '2026-07-01T10:00:00Z'

const calls = await shop.create({
  ...{ name: 'Extra calls', price: 1_500, planRefs: [small, big] },
  raises: [{ meter: 'requests', raises: 'limit', units: 300 }],
})
const support = await shop.create({ name: 'Support', price: 600, planRefs: [small, plain, big] })
const seats = await shop.create({
  ...{ name: 'Seat', price: 500, setupFee: 200, maxQuantity: 3, planRefs: [plain] },
})

test('an add-on is charged for the rest of the period, raises its limit, and renews', async () => {
  const { reference, customerRef } = await renewals.buy(small)
  stack.setTime(eleventh)
  const { status, body } = await shop.set(reference, calls, 1)
  expect(status, JSON.stringify(body)).toBe(200)
  expect(body).toMatchObject({ payment: 'paid' })
  const held = await stack.held(customerRef)
  expect(body.purchase.reference).toBe(held.reference)
  expect(body.purchase.planSnapshot).toMatchObject({
    ...{ price: 3_000, limit: 1_300 },
    addOns: [{ reference: calls, name: 'Extra calls', quantity: 1, price: 1_500 }],
  })
  // 20 of 30 days of 15 dollars, and of 300 units.
  expect(held.firstIncludedMicros).toBe(1_200_000_000n)
  expect(await shop.linesOf(held.reference)).toEqual([[['proration', 1_000n]]])
  await stack.changeAndRenew(july)
  expect(await shop.linesOf(held.reference)).toEqual([
    [
      ['recurring', 3_000n],
      ['add_on', 1_500n],
    ],
    [['proration', 1_000n]],
  ])
})

test('a repeated request changes nothing', async () => {
  const { reference, customerRef } = await renewals.buy(plain)
  const first = await shop.set(reference, support, 1)
  const held = await stack.held(customerRef)
  const again = await shop.set(held.reference, support, 1)
  expect(again.body.purchase.reference).toBe(first.body.purchase.reference)
  expect(await stack.totalsOf(held.reference)).toEqual([600n])
})

test('units are never credited, and the rest of any other add-on is', async () => {
  const { reference, customerRef } = await renewals.buy(small)
  await shop.set(reference, calls, 2)
  const withCalls = await stack.held(customerRef)
  await shop.set(withCalls.reference, support, 1)
  stack.setTime(twentyFirst)
  const held = await stack.held(customerRef)
  const refused = await shop.remove(held.reference, calls, 'now')
  expect(refused).toMatchObject({ status: 409, body: { code: 'add_on_not_changeable' } })
  expect(refused.body.message).toContain('only_at_renewal')
  const removed = await shop.remove(held.reference, support, 'now')
  expect(removed.status).toBe(200)
  const left = await stack.held(customerRef)
  // 10 of 30 days of 6 dollars.
  expect(await stack.totalsOf(left.reference)).toEqual([-200n])
  expect(left.firstIncludedMicros).toBe(1_600_000_000n)
})

test('an add-on that raises a limit ends with the renewal, and stays if it is set again before', async () => {
  const { reference, customerRef } = await renewals.buy(small)
  await shop.set(reference, calls, 2)
  const held = await stack.held(customerRef)
  const lower = await shop.set(held.reference, calls, 1, 'renewal')
  expect(lower.body).toMatchObject({ effectiveAt: '2026-07-01T00:00:00.000Z' })
  expect(lower.body.purchase.scheduledPlan).toMatchObject({ addOns: [{ quantity: 1 }] })
  const kept = await shop.set(held.reference, calls, 2, 'renewal')
  expect(kept.body.purchase.scheduledPlan).toBeUndefined()
  await shop.remove(held.reference, calls)
  await stack.changeAndRenew(july)
  const renewed = await stack.held(customerRef)
  expect(renewed.planSnapshot?.terms).toMatchObject({ limit: 1_000 })
  expect(renewed.planSnapshot?.terms.addOns).toBeUndefined()
  expect(await shop.linesOf(renewed.reference)).toEqual([[['recurring', 3_000n]]])
})

test('a change of plan keeps what the new plan allows, credits the rest, and keeps a removal', async () => {
  const { reference, customerRef } = await renewals.buy(plain)
  await shop.set(reference, support, 1)
  await shop.set((await stack.held(customerRef)).reference, seats, 2)
  const held = await stack.held(customerRef)
  await shop.remove(held.reference, support)
  stack.setTime(eleventh)
  const request = { customerRef, productRef: payments.productRef, planRef: big }
  const { body } = await payments.call<{ status: string; message?: string }>(
    'POST',
    '/v1/sdk/activate',
    request,
  )
  // 90 + 6 dollars in place of 30 + 6 + 10, for 20 of 30 days.
  expect(body.status, JSON.stringify(body)).toBe('payment_required')
  expect(body.message).toContain('33.33')
})

test('a set-up fee is charged once, and a maximum holds', async () => {
  const { reference, customerRef } = await renewals.buy(plain)
  expect(await shop.set(reference, seats, 4)).toMatchObject({ status: 409 })
  await shop.set(reference, seats, 1)
  const one = await stack.held(customerRef)
  expect(await stack.totalsOf(one.reference)).toEqual([700n])
  await shop.set(one.reference, seats, 3)
  const three = await stack.held(customerRef)
  expect(await stack.totalsOf(three.reference)).toEqual([1_000n])
  await stack.changeAndRenew(july)
  expect(await stack.totalsOf(three.reference)).toEqual([4_500n, 1_000n])
})

test('an add-on from the next period on pays its set-up fee with the renewal', async () => {
  const { reference, customerRef } = await renewals.buy(plain)
  await shop.set(reference, seats, 2, 'renewal')
  expect(await stack.held(customerRef)).toMatchObject({ reference })
  await stack.changeAndRenew(july)
  const renewed = await stack.held(customerRef)
  expect(await shop.linesOf(renewed.reference)).toEqual([
    [
      ['recurring', 3_000n],
      ['add_on', 1_000n],
      ['setup_fee', 200n],
    ],
  ])
  await stack.changeAndRenew('2026-08-01T10:00:00Z')
  expect(await stack.totalsOf(renewed.reference)).toEqual([4_000n, 4_200n])
})
