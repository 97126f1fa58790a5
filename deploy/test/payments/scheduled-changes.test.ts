import { afterAll, beforeEach, expect, test } from 'vitest'
import type { ChangedPurchaseBody } from '@tollgate/schemas/http/purchases'
import { MigrationStack } from './plan-migration-stack.ts'

/* Changes of plan that the provider schedules for one purchase, which was paid for June. */

const stack = await MigrationStack.start()
const { renewals } = stack
const small = await stack.createPlan({ name: 'Small', price: 1_900 })
const big = await stack.createPlan({ name: 'Big', price: 4_900 })
afterAll(() => stack.stop())
beforeEach(() => stack.reset())

const eleventh = '2026-06-11T00:00:00Z'
const july = '2026-07-01T10:00:00Z'

type Answer = { readonly purchase: ChangedPurchaseBody; readonly code?: string; message?: string }

function schedule(purchaseRef: string, body: object) {
  const path = `/v1/sdk/purchases/${purchaseRef}/scheduled-change`
  return stack.payments.call<Answer>('PUT', path, body)
}

function withdraw(purchaseRef: string) {
  const path = `/v1/sdk/purchases/${purchaseRef}/scheduled-change`
  return stack.payments.call<Answer>('DELETE', path)
}

test('a change takes effect with the next renewal', async () => {
  const { reference, customerRef } = await renewals.buy(small)
  const { status, body } = await schedule(reference, { planRef: big })
  expect(status).toBe(200)
  expect(body.purchase.scheduledPlan).toEqual({
    ...{ reference: big, name: 'Big', price: 4_900, currency: 'USD' },
    startDate: '2026-07-01T00:00:00.000Z',
  })
  await stack.changeAndRenew(july)
  const held = await stack.held(customerRef)
  expect(held.planRef).toBe(big)
  expect(await stack.totalsOf(held.reference)).toEqual([4_900n])
})

test('a change takes effect on its date, and the difference is charged then', async () => {
  const { reference, customerRef } = await renewals.buy(small)
  const { body } = await schedule(reference, { planRef: big, effectiveAt: eleventh })
  expect(body.purchase.scheduledPlan).toMatchObject({
    startDate: '2026-06-11T00:00:00.000Z',
    billing: 'prorate',
  })
  await stack.changeAndRenew('2026-06-10T23:59:00Z')
  expect(await stack.held(customerRef)).toMatchObject({ reference })
  await stack.changeAndRenew(eleventh)
  const held = await stack.held(customerRef)
  expect(held).toMatchObject({ planRef: big, replaces: reference })
  expect(await renewals.invoicesOf(held.reference)).toMatchObject([
    { status: 'paid', totalMinor: 2_000n },
  ])
})

test('a change after one that kept the period credits only what was paid', async () => {
  const { reference, customerRef } = await renewals.buy(small)
  await schedule(reference, { planRef: big, effectiveAt: eleventh, billing: 'keep_period' })
  await stack.changeAndRenew(eleventh)
  const cheap = await stack.createPlan({ name: 'Cheap', price: 900 })
  const request = { customerRef, productRef: stack.payments.productRef, planRef: cheap }
  await stack.payments.call('POST', '/v1/sdk/activate', request)
  const held = await stack.held(customerRef)
  expect(held.planRef).toBe(cheap)
  // 20 of 30 days of the 19 dollars that were paid, and not of the 49 that were never charged.
  expect(await stack.totalsOf(held.reference)).toEqual([-667n])
})

test('a change after one that kept the period charges only what was not paid', async () => {
  const { reference, customerRef } = await renewals.buy(big)
  await schedule(reference, { planRef: small, effectiveAt: eleventh, billing: 'keep_period' })
  await stack.changeAndRenew(eleventh)
  const top = await stack.createPlan({ name: 'Top', price: 9_900 })
  const kept = await stack.held(customerRef)
  await schedule(kept.reference, { planRef: top, effectiveAt: '2026-06-21T00:00:00Z' })
  await stack.changeAndRenew('2026-06-21T00:00:00Z')
  const held = await stack.held(customerRef)
  expect(await stack.totalsOf(held.reference)).toEqual([1_667n])
  await stack.changeAndRenew(july)
  expect(await stack.totalsOf(held.reference)).toEqual([9_900n, 1_667n])
})

test.each([
  ['prorate', eleventh, [4_900n, 3_000n]],
  ['keep_period', eleventh, [4_900n]],
  [undefined, undefined, [5_900n]],
] as const)(
  'a set-up fee is charged once, and not for a change that keeps its period: %s',
  async (billing, effectiveAt, totals) => {
    const withFee = await stack.createPlan({ name: 'Fee', price: 4_900, setupFee: 1_000 })
    const { reference, customerRef } = await renewals.buy(small)
    const { body } = await schedule(reference, { planRef: withFee, effectiveAt, billing })
    expect(body.purchase.scheduledPlan).toMatchObject({ reference: withFee })
    await stack.changeAndRenew(eleventh)
    await stack.changeAndRenew(july)
    const held = await stack.held(customerRef)
    expect(await stack.totalsOf(held.reference)).toEqual(totals)
    expect(held.planSnapshot?.setupFeeMinor ?? null).toBe(billing === 'keep_period' ? null : 1_000)
  },
)

test('a change that a renewal overtakes takes effect with the renewal, and nothing is prorated', async () => {
  const { reference, customerRef } = await renewals.buy(small)
  await schedule(reference, { planRef: big, effectiveAt: '2026-06-30T23:00:00Z' })
  // The billing runner was away from before the change until after the renewal.
  await renewals.runJob('plan-changes', july)
  expect(await stack.held(customerRef)).toMatchObject({ reference })
  await stack.changeAndRenew(july)
  const held = await stack.held(customerRef)
  expect(held.planRef).toBe(big)
  expect(await stack.totalsOf(held.reference)).toEqual([4_900n])
})

test('a change is replaced by another one, and withdrawn', async () => {
  const { reference } = await renewals.buy(small)
  await schedule(reference, { planRef: big, effectiveAt: eleventh })
  const other = await stack.createPlan({ name: 'Other', price: 900 })
  const { body } = await schedule(reference, { planRef: other })
  expect(body.purchase.scheduledPlan).toMatchObject({ reference: other })
  expect(body.purchase.scheduledPlan?.billing).toBeUndefined()
  await stack.changeAndRenew(eleventh)
  const withdrawn = await withdraw(reference)
  expect(withdrawn.body.purchase.scheduledPlan).toBeUndefined()
  expect((await withdraw(reference)).status).toBe(200)
  await stack.changeAndRenew(july)
  expect(await renewals.purchase(reference)).toMatchObject({ status: 'active', planRef: small })
  expect(await stack.totalsOf(reference)).toEqual([1_900n])
})

test('a cancelled purchase keeps its plan, and changes once the cancellation is withdrawn', async () => {
  const { reference, customerRef } = await renewals.buy(small)
  await schedule(reference, { planRef: big, effectiveAt: eleventh, billing: 'keep_period' })
  await stack.payments.call('POST', `/v1/sdk/purchases/${reference}/cancel`)
  await stack.changeAndRenew(eleventh)
  expect(await stack.held(customerRef)).toMatchObject({ reference, planRef: small })
  stack.setTime('2026-06-15T00:00:00Z')
  await stack.payments.call('POST', `/v1/sdk/purchases/${reference}/reactivate`)
  await stack.changeAndRenew('2026-06-15T00:01:00Z')
  const held = await stack.held(customerRef)
  expect(held.planRef).toBe(big)
  expect(await stack.totalsOf(held.reference)).toEqual([])
})

test('a past due purchase changes after its debt is paid', async () => {
  const { reference, customerRef } = await renewals.buy(small)
  await schedule(reference, { planRef: big, effectiveAt: '2026-07-05T00:00:00Z' })
  await renewals.replaceCard(customerRef, 'pm_card_chargeCustomerFail')
  await stack.changeAndRenew(july)
  await stack.changeAndRenew('2026-07-05T00:01:00Z')
  expect(await stack.held(customerRef)).toMatchObject({ reference, status: 'past_due' })
  await renewals.replaceCard(customerRef, 'pm_card_visa')
  await renewals.runJob('payment-retries', '2026-07-05T12:00:00Z')
  await stack.changeAndRenew('2026-07-05T12:01:00Z')
  expect(await stack.held(customerRef)).toMatchObject({ planRef: big })
})

test('a refunded purchase does not change', async () => {
  const { reference, customerRef } = await renewals.buy(small)
  await schedule(reference, { planRef: big, effectiveAt: eleventh })
  await renewals.sql`
    update purchases set status = 'refunded', ended_at = '2026-06-05T00:00:00Z'
    where reference = ${reference}`
  await stack.changeAndRenew(eleventh)
  expect(await renewals.purchasesOf(customerRef)).toHaveLength(1)
})

test('a plan that is deleted while purchases change to it keeps its name', async () => {
  const { reference, customerRef } = await renewals.buy(small)
  const gone = await stack.createPlan({ name: 'Gone', price: 2_900 })
  await schedule(reference, { planRef: gone })
  await stack.payments.call('DELETE', stack.planPath(gone))
  const { body } = await stack.payments.call<{ status: string }>('GET', stack.planPath(gone))
  expect(body.status).toBe('archived')
  await stack.changeAndRenew(july)
  expect((await stack.held(customerRef)).planRef).toBe(gone)
})

test.each([
  ['a time in the past', { effectiveAt: '2026-05-31T00:00:00Z' }, 'validation_failed'],
  ['a time in 3 years', { effectiveAt: '2029-06-01T00:00:00Z' }, 'validation_failed'],
  ['a way of billing for a renewal', { billing: 'prorate' }, 'validation_failed'],
])('refuses %s', async (_, fields, code) => {
  const { reference } = await renewals.buy(small)
  const { status, body } = await schedule(reference, { planRef: big, ...fields })
  expect([status, body.code]).toEqual([400, code])
})

test('refuses other periods, the same terms, and purchases that have ended', async () => {
  const { reference } = await renewals.buy(small)
  const yearly = await stack.payments.createPlan({ price: 19_000, billingCycle: 'yearly' })
  const refusals = [
    [yearly, 'other_period'],
    [small, 'unchanged'],
  ] as const
  for (const [planRef, reason] of refusals) {
    const { status, body } = await schedule(reference, { planRef })
    expect([status, body.code]).toEqual([400, 'change_not_schedulable'])
    expect(body.message).toContain(reason)
  }
  expect((await schedule(reference, { planRef: 'pln_NONE' })).status).toBe(404)
  expect((await schedule('pur_NONE', { planRef: big })).status).toBe(404)
  expect((await withdraw('pur_NONE')).status).toBe(404)
  await renewals.sql`update purchases set status = 'expired' where reference = ${reference}`
  expect((await schedule(reference, { planRef: big })).body.message).toContain('ended')
})
