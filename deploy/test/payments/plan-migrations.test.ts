import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import type {
  MigrationPreviewBody,
  PlanMigrationBody,
  PlanMigrationInput,
} from '@tollgate/schemas/http/plan-migrations'
import type { ActivateResponse } from '@tollgate/schemas/http/activate'
import { MigrationStack } from './plan-migration-stack.ts'

/* Customers paid for June. The provider raises the price on the 11th, when 20 of the 30 days are left, and moves the holders. */

const stack = await MigrationStack.start()
const { renewals } = stack
afterAll(() => stack.stop())
beforeEach(() => stack.reset())

const eleventh = '2026-06-11T00:00:00Z'
const july = '2026-07-01T10:00:00Z'
const august = '2026-08-01T10:00:00Z'

/** Creates a plan of which the price is raised later. */
function raisedPlan(fields: object = {}): Promise<string> {
  return stack.createPlan({ price: 1_900, ...fields })
}

/** Changes the terms of the plan on the 11th, and moves its holders at once. */
async function changeNow(
  planRef: string,
  terms: object,
  billing?: PlanMigrationInput['billing'],
): Promise<PlanMigrationBody> {
  stack.setTime(eleventh)
  await stack.changePlan(planRef, terms)
  const migration = await stack.migrate(planRef, { when: 'now', billing })
  await stack.process(eleventh)
  await stack.changeAndRenew(eleventh)
  return migration
}

describe('with the next renewal', () => {
  test('holders pay the new price from their next period on, and are moved once', async () => {
    const planRef = await raisedPlan()
    const holders = [await renewals.buy(planRef), await renewals.buy(planRef)]
    stack.setTime(eleventh)
    await stack.changePlan(planRef, { price: 4_900 })
    const migration = await stack.migrate(planRef, { when: 'renewal' })
    expect(migration).toMatchObject({ status: 'running', toPlanRef: planRef, notice: false })
    await stack.process(eleventh, 1)
    expect(await stack.read(migration)).toMatchObject({
      status: 'done',
      progress: { scheduled: 2, moved: 0, skipped: 0 },
    })
    await stack.changeAndRenew(july)
    for (const { reference, customerRef } of holders) {
      const held = await stack.held(customerRef)
      expect(held).toMatchObject({
        ...{ planRef, replaces: reference, scheduledPlan: null },
        planSnapshot: { priceMinor: 4_900 },
        nextBillingDate: new Date('2026-08-01T00:00:00Z'),
      })
      expect(await stack.totalsOf(reference)).toEqual([])
      expect(await stack.totalsOf(held.reference)).toEqual([4_900n])
    }
    await stack.process(july)
    await stack.changeAndRenew(august)
    for (const { customerRef } of holders) {
      expect(await stack.totalsOf((await stack.held(customerRef)).reference)).toEqual([
        4_900n,
        4_900n,
      ])
      expect(await renewals.purchasesOf(customerRef)).toHaveLength(2)
    }
    const moved = await stack.purchasesOf(migration)
    for (const { reference, customerRef } of holders) {
      const { reference: movedTo } = await stack.held(customerRef)
      expect(moved.get(reference)).toMatchObject({ status: 'moved', movedTo })
    }
  })

  test('holders with a notice change with the first renewal after it, and are told', async () => {
    const planRef = await raisedPlan()
    const { reference, customerRef } = await renewals.buy(planRef)
    stack.setTime(eleventh)
    await stack.changePlan(planRef, { price: 4_900 })
    await stack.migrate(planRef, { when: 'renewal', notice: 30 })
    await stack.process(eleventh)
    const events = await stack.payments.eventsOf(reference)
    expect(events.slice(-2)).toEqual(['purchase.updated', 'purchase.plan_change_scheduled'])
    expect(await stack.held(customerRef)).toMatchObject({
      scheduledPlanAt: new Date('2026-08-01T00:00:00Z'),
    })
    await stack.changeAndRenew(july)
    expect(await stack.totalsOf(reference)).toEqual([1_900n])
    await stack.changeAndRenew(august)
    expect(await stack.totalsOf((await stack.held(customerRef)).reference)).toEqual([4_900n])
  })

  test('holders can move to another plan of the product, without its set-up fee', async () => {
    const planRef = await raisedPlan()
    const other = await stack.createPlan({ price: 2_900, setupFee: 500 })
    const { customerRef } = await renewals.buy(planRef)
    await stack.migrate(planRef, { when: 'renewal', toPlanRef: other })
    await stack.process(eleventh)
    await stack.changeAndRenew(july)
    const held = await stack.held(customerRef)
    expect(held.planRef).toBe(other)
    expect(await stack.totalsOf(held.reference)).toEqual([2_900n])
  })

  test('a program that activates the plan of its customer does not withdraw the change', async () => {
    const planRef = await raisedPlan()
    const { customerRef } = await renewals.buy(planRef)
    await stack.changePlan(planRef, { price: 4_900 })
    await stack.migrate(planRef, { when: 'renewal' })
    await stack.process(eleventh)
    const request = { customerRef, productRef: stack.payments.productRef, planRef }
    const { body } = await stack.payments.call<ActivateResponse>(
      'POST',
      '/v1/sdk/activate',
      request,
    )
    expect(body.status).toBe('already_active')
    expect(body.message).toBeUndefined()
    expect((await stack.held(customerRef)).scheduledPlan).toMatchObject({ priceMinor: 4_900 })
  })
})

describe('now', () => {
  test('charges the difference for the rest of the period', async () => {
    const planRef = await raisedPlan()
    const { reference, customerRef } = await renewals.buy(planRef)
    const migration = await changeNow(planRef, { price: 4_900 })
    const held = await stack.held(customerRef)
    expect(held).toMatchObject({
      planRef,
      replaces: reference,
      planSnapshot: { priceMinor: 4_900 },
    })
    expect(await renewals.invoicesOf(held.reference)).toMatchObject([
      { status: 'paid', totalMinor: 2_000n },
    ])
    expect(await renewals.succeededChargesOf(held.reference)).toBe(1)
    await stack.changeAndRenew(july)
    expect(await stack.totalsOf(held.reference)).toEqual([4_900n, 2_000n])
    expect((await stack.read(migration)).progress).toMatchObject({ moved: 1, scheduled: 0 })
  })

  test('is not repeated after a refund of the difference, which restores the purchase', async () => {
    const planRef = await raisedPlan()
    const { reference, customerRef } = await renewals.buy(planRef)
    await changeNow(planRef, { price: 4_900 })
    const held = await stack.held(customerRef)
    await renewals.sql`
      update purchases set status = 'expired', ended_at = '2026-06-11T00:00:00Z'
      where reference = ${held.reference}`
    await renewals.sql`
      update purchases set status = 'active', ended_at = null, auto_renew = true,
        next_billing_date = '2026-07-01T00:00:00Z' where reference = ${reference}`
    await stack.process('2026-06-12T00:00:00Z')
    await stack.changeAndRenew('2026-06-12T00:00:00Z')
    expect(await stack.held(customerRef)).toMatchObject({ reference, scheduledPlan: null })
  })

  test('keeps the paid period: new limits at once, the new price with the renewal', async () => {
    const planRef = await raisedPlan({ limit: 100 })
    const { customerRef } = await renewals.buy(planRef)
    await changeNow(planRef, { price: 900, limit: 50 }, 'keep_period')
    const held = await stack.held(customerRef)
    expect(held.planSnapshot).toMatchObject({ priceMinor: 900, terms: { limit: 50 } })
    expect(await stack.totalsOf(held.reference)).toEqual([])
    await stack.changeAndRenew(july)
    expect(await stack.totalsOf(held.reference)).toEqual([900n])
  })

  test('waits for the renewal if the units of the period cannot be prorated', async () => {
    const planRef = await raisedPlan({ limit: 100 })
    const { reference, customerRef } = await renewals.buy(planRef)
    const migration = await changeNow(planRef, { price: 900 })
    expect(await stack.held(customerRef)).toMatchObject({
      ...{ reference, isScheduledByProvider: true },
      scheduledPlanAt: new Date('2026-07-01T00:00:00Z'),
    })
    expect((await stack.purchasesOf(migration)).get(reference)).toMatchObject({
      ...{ status: 'scheduled', effectiveAt: '2026-07-01T00:00:00.000Z' },
    })
    await stack.changeAndRenew(july)
    expect(await stack.totalsOf((await stack.held(customerRef)).reference)).toEqual([900n])
  })

  test('a declined card makes the moved purchase past due, and the charge is repeated', async () => {
    const planRef = await raisedPlan()
    const { customerRef } = await renewals.buy(planRef)
    await renewals.replaceCard(customerRef, 'pm_card_chargeCustomerFail')
    await changeNow(planRef, { price: 4_900 })
    const held = await stack.held(customerRef)
    expect(held.status).toBe('past_due')
    await renewals.replaceCard(customerRef, 'pm_card_visa')
    await renewals.runJob('payment-retries', '2026-06-11T06:00:00Z')
    expect(await renewals.purchase(held.reference)).toMatchObject({ status: 'active' })
    expect(await renewals.invoicesOf(held.reference)).toMatchObject([
      { status: 'paid', totalMinor: 2_000n },
    ])
  })

  test('customers without periods get the new price of a unit at once', async () => {
    const planRef = await stack.payments.createPlan({
      ...{ type: 'usage-based', billingModel: 'pre-paid', creditsPerUnit: 10 },
    })
    const customerRef = await stack.payments.createCustomer()
    const request = { customerRef, productRef: stack.payments.productRef, planRef }
    await stack.payments.call('POST', '/v1/sdk/activate', request)
    await stack.changePlan(planRef, { creditsPerUnit: 20 })
    await stack.migrate(planRef, { when: 'now' })
    await stack.process(eleventh)
    await stack.changeAndRenew(eleventh)
    expect((await stack.held(customerRef)).planSnapshot?.terms.creditsPerUnit).toBe(20)
  })
})

describe('purchases that keep their terms', () => {
  test('are listed with the reason', async () => {
    const planRef = await raisedPlan()
    const later = await stack.createPlan({ price: 900, prorationPolicy: 'none' })
    const [cancelled, pending, moved, current, late, foreign] = [
      await renewals.buy(planRef),
      await renewals.buy(planRef),
      await renewals.buy(planRef),
      await renewals.buy(planRef),
      await renewals.buy(planRef),
      await renewals.buy(planRef),
    ]
    const { payments } = stack
    await payments.call('POST', `/v1/sdk/purchases/${cancelled.reference}/cancel`)
    const other = { customerRef: pending.customerRef, productRef: payments.productRef }
    await payments.call('POST', '/v1/sdk/activate', { ...other, planRef: later })
    await stack.changePlan(planRef, { price: 4_900 })
    await renewals.sql`
      update purchases set plan_snapshot = jsonb_set(plan_snapshot, '{priceMinor}', '4900')
      where reference = ${current.reference}`
    await renewals.sql`
      update purchases set status = 'past_due' where reference = ${late.reference}`
    await renewals.sql`update purchases set currency = 'EUR' where reference = ${foreign.reference}`
    const preview = await payments.call<MigrationPreviewBody>(
      'POST',
      `${stack.planPath(planRef)}/migration-preview`,
      { when: 'now' },
    )
    const outcomes = new Map(preview.body.holders.map((each) => [each.purchaseRef, each]))
    const migration = await stack.migrate(planRef, { when: 'now' })
    await stack.process(eleventh)
    const items = await stack.purchasesOf(migration)
    const reasons = [
      [cancelled, 'cancelled'],
      [pending, 'change_pending'],
      [late, 'past_due'],
      [foreign, 'other_currency'],
    ] as const
    for (const [{ reference }, reason] of reasons) {
      expect(items.get(reference)).toMatchObject({ status: 'skipped', reason })
      expect(outcomes.get(reference)).toMatchObject({ outcome: reason })
    }
    expect(items.get(moved.reference)).toMatchObject({ status: 'scheduled' })
    // The preview is of the first second of the period: the whole difference is charged.
    expect(outcomes.get(moved.reference)).toMatchObject({
      ...{ outcome: 'moves', charge: 3_000 },
      ...{ before: { price: 1_900 }, after: { price: 4_900 } },
    })
    expect(items.has(current.reference)).toBe(false)
    expect(outcomes.get(current.reference)).toMatchObject({ outcome: 'unchanged' })
    expect(preview.body.total).toBe(6)
  })

  test('include customers of a free plan, who never agreed to pay', async () => {
    const planRef = await stack.createPlan({ price: 0 })
    const customerRef = await stack.payments.createCustomer()
    const request = { customerRef, productRef: stack.payments.productRef, planRef }
    await stack.payments.call('POST', '/v1/sdk/activate', request)
    const other = await stack.createPlan({ price: 900 })
    const migration = await stack.migrate(planRef, { when: 'renewal', toPlanRef: other })
    await stack.process(eleventh)
    const { reference } = await stack.held(customerRef)
    expect((await stack.purchasesOf(migration)).get(reference)).toMatchObject({
      status: 'skipped',
      reason: 'free_plan',
    })
  })
})

describe('a migration', () => {
  test('can be limited to customers and purchases', async () => {
    const planRef = await raisedPlan()
    const [one, two] = [await renewals.buy(planRef), await renewals.buy(planRef)]
    await stack.changePlan(planRef, { price: 4_900 })
    const { customerRef } = one
    const migration = await stack.migrate(planRef, { when: 'renewal', customerRefs: [customerRef] })
    await stack.process(eleventh)
    expect([...(await stack.purchasesOf(migration)).keys()]).toEqual([one.reference])
    const next = await stack.migrate(planRef, { when: 'renewal', purchaseRefs: [two.reference] })
    await stack.process(eleventh)
    expect([...(await stack.purchasesOf(next)).keys()]).toEqual([two.reference])
    const unknown = { when: 'renewal', purchaseRefs: ['pur_NONE'], customerRefs: ['nobody'] }
    const path = `${stack.planPath(planRef)}/migrations`
    const { status, body } = await stack.payments.call<{ errors: { path: unknown[] }[] }>(
      'POST',
      path,
      unknown,
    )
    expect(status).toBe(400)
    expect(body.errors.map((each) => each.path)).toEqual([
      ['purchaseRefs', 0],
      ['customerRefs', 0],
    ])
  })

  test('is paused and resumed, and is the only one of its plan until it is done', async () => {
    const planRef = await raisedPlan()
    const { reference } = await renewals.buy(planRef)
    await stack.changePlan(planRef, { price: 4_900 })
    const migration = await stack.migrate(planRef, { when: 'renewal' })
    const second = await stack.payments.call('POST', `${stack.planPath(planRef)}/migrations`, {
      when: 'now',
    })
    expect([second.status, second.body]).toMatchObject([409, { code: 'plan_migration_running' }])
    expect((await stack.move(migration, 'pause')).body.status).toBe('paused')
    await stack.process(eleventh)
    expect((await renewals.purchase(reference)).scheduledPlan).toBeNull()
    expect((await stack.move(migration, 'resume')).body.status).toBe('running')
    await stack.process(eleventh)
    expect((await renewals.purchase(reference)).scheduledPlan).not.toBeNull()
    const refused = await stack.move(migration, 'pause')
    expect([refused.status, refused.body]).toMatchObject([409, { code: 'plan_migration_not_now' }])
  })

  test('withdraws its changes when it is cancelled, and keeps what has moved', async () => {
    const planRef = await raisedPlan()
    const [first, later] = [await renewals.buy(planRef), await renewals.buy(planRef)]
    await renewals.sql`
      update purchases set next_billing_date = '2026-07-20T00:00:00Z', anchor = '2026-05-20T00:00:00Z'
      where reference = ${later.reference}`
    await stack.changePlan(planRef, { price: 4_900 })
    const migration = await stack.migrate(planRef, { when: 'renewal' })
    await stack.process(eleventh)
    await stack.changeAndRenew(july)
    expect((await stack.move(migration, 'cancel')).body.status).toBe('cancelling')
    await stack.process(july, 1)
    expect(await stack.read(migration)).toMatchObject({
      status: 'cancelled',
      progress: { moved: 1, withdrawn: 1, scheduled: 0 },
    })
    expect((await renewals.purchase(later.reference)).scheduledPlan).toBeNull()
    expect((await stack.held(first.customerRef)).planSnapshot).toMatchObject({ priceMinor: 4_900 })
  })

  test('leaves a purchase to the change that its customer chose meanwhile', async () => {
    const planRef = await raisedPlan()
    const bigger = await stack.createPlan({ price: 900, prorationPolicy: 'none' })
    const { reference, customerRef } = await renewals.buy(planRef)
    await stack.changePlan(planRef, { price: 4_900 })
    const migration = await stack.migrate(planRef, { when: 'renewal' })
    await stack.process(eleventh)
    const request = { customerRef, productRef: stack.payments.productRef, planRef: bigger }
    await stack.payments.call('POST', '/v1/sdk/activate', request)
    expect((await stack.purchasesOf(migration)).get(reference)).toMatchObject({
      status: 'superseded',
    })
    await stack.move(migration, 'cancel')
    await stack.process(eleventh)
    expect((await renewals.purchase(reference)).scheduledPlan).toMatchObject({ reference: bigger })
    await stack.changeAndRenew(july)
    expect(await stack.held(customerRef)).toMatchObject({ planRef: bigger })
  })

  test('is not found under another plan or by another provider', async () => {
    const [planRef, other] = [await raisedPlan(), await raisedPlan()]
    const migration = await stack.migrate(planRef, { when: 'renewal' })
    const wrong = await stack.move({ ...migration, planRef: other }, 'cancel')
    expect([wrong.status, wrong.body]).toMatchObject([404, { code: 'plan_migration_not_found' }])
    const stranger = await stack.payments.stack.createTenant()
    const path = `${stack.planPath(planRef)}/migrations`
    for (const [method, url] of [
      ['GET', path],
      ['GET', `${path}/${migration.reference}`],
      ['POST', `${path}/${migration.reference}/cancel`],
    ] as const) {
      const { status } = await stack.payments.stack.call(stranger.sandboxKey, method, url)
      expect([url, status]).toEqual([url, 404])
    }
  })
})
