import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { MigrationStack } from './plan-migration-stack.ts'

/*
 * Trials that begin on the 1st of June and end on the 15th, and purchases that begin with the old terms after their plan was migrated.
 */

const stack = await MigrationStack.start()
const { renewals, payments } = stack
afterAll(() => stack.stop())
beforeEach(() => stack.reset())

const fifth = '2026-06-05T00:00:00Z'
const endOfTrial = '2026-06-15T06:00:00Z'
const july = '2026-07-15T10:00:00Z'

const trialPlan = () => stack.createPlan({ price: 1_900, setupFee: 500, trialDays: 14, limit: 100 })

async function endTrials(): Promise<void> {
  await renewals.runJob('trial-expiry', endOfTrial)
  // The purchase that continues the trial is due in the next round.
  await renewals.runJob('trial-expiry', endOfTrial)
}

async function invoiceLines(purchaseRef: string): Promise<[string, number][]> {
  const rows = await renewals.sql<{ kind: string; amount: string }[]>`
    select line.kind, line.amount::text from invoice_lines as line
    join invoices on invoices.provider_id = line.provider_id and invoices.reference = line.invoice_ref
    where invoices.purchase_ref = ${purchaseRef} order by line.kind`
  return rows.map(({ kind, amount }) => [kind, Number(amount)])
}

describe('a trial', () => {
  test('moves at its end with the next renewal, and is charged by the new terms with the fee that was agreed', async () => {
    const planRef = await trialPlan()
    const { reference, customerRef } = await stack.startTrial(planRef)
    stack.setTime(fifth)
    await stack.changePlan(planRef, { price: 4_900, setupFee: 9_900 })
    const migration = await stack.migrate(planRef, { when: 'renewal' })
    await stack.process(fifth)
    expect((await stack.purchasesOf(migration)).get(reference)).toMatchObject({
      ...{ status: 'scheduled', effectiveAt: '2026-06-15T00:00:00.000Z' },
    })
    await endTrials()
    const held = await stack.held(customerRef)
    expect(held).toMatchObject({
      ...{ status: 'active', replaces: reference, planSnapshot: { priceMinor: 4_900 } },
      startDate: new Date('2026-06-15T00:00:00Z'),
      nextBillingDate: new Date('2026-07-15T00:00:00Z'),
    })
    expect(await invoiceLines(held.reference)).toEqual([
      ['recurring', 4_900],
      ['setup_fee', 500],
    ])
    expect(await invoiceLines(reference)).toEqual([])
    expect((await stack.purchasesOf(migration)).get(reference)).toMatchObject({
      ...{ status: 'moved', movedTo: held.reference },
    })
    await stack.changeAndRenew(july)
    expect(await stack.totalsOf(held.reference)).toEqual([4_900n, 5_400n])
  })

  test('moves with a renewal after its end, and has paid the fee that was agreed by then', async () => {
    const planRef = await trialPlan()
    const { customerRef } = await stack.startTrial(planRef)
    stack.setTime(fifth)
    await stack.changePlan(planRef, { price: 4_900, setupFee: 9_900 })
    await stack.migrate(planRef, { when: 'renewal', notice: 30 })
    await stack.process(fifth)
    await endTrials()
    const old = await stack.held(customerRef)
    expect(await invoiceLines(old.reference)).toEqual([
      ['recurring', 1_900],
      ['setup_fee', 500],
    ])
    await stack.changeAndRenew(july)
    const held = await stack.held(customerRef)
    expect(held).toMatchObject({ replaces: old.reference })
    expect(await invoiceLines(held.reference)).toEqual([['recurring', 4_900]])
  })

  test('moves at once, charges nothing before its end, and shares its allowance with the new terms', async () => {
    const planRef = await trialPlan()
    const { reference, customerRef } = await stack.startTrial(planRef)
    stack.setTime(fifth)
    await stack.changePlan(planRef, { price: 4_900 })
    await stack.migrate(planRef, { when: 'now' })
    await stack.process(fifth)
    await stack.changeAndRenew(fifth)
    const held = await stack.held(customerRef)
    expect(held).toMatchObject({
      ...{ status: 'trialing', replaces: reference, planSnapshot: { priceMinor: 4_900 } },
      nextBillingDate: new Date('2026-06-15T00:00:00Z'),
      allowance: {
        window: expect.stringContaining(reference) as string,
        since: expect.any(Date) as Date,
        until: new Date('2026-06-15T00:00:00Z'),
      },
    })
    expect(await invoiceLines(held.reference)).toEqual([])
    await endTrials()
    expect(await stack.held(customerRef)).toMatchObject({ reference: held.reference })
    expect(await stack.totalsOf(held.reference)).toEqual([5_400n])
  })

  test('is suspended at its end if the card declines the new price', async () => {
    const planRef = await trialPlan()
    const { customerRef } = await stack.startTrial(planRef)
    await stack.changePlan(planRef, { price: 4_900 })
    await stack.migrate(planRef, { when: 'renewal' })
    await stack.process(fifth)
    await renewals.replaceCard(customerRef, 'pm_card_chargeCustomerFail')
    await endTrials()
    const [newest, before] = (await renewals.purchasesOf(customerRef)).filter(
      (each) => each.planRef === planRef,
    )
    expect([newest?.status, before?.status]).toEqual(['suspended', 'expired'])
  })
})

describe('a purchase that begins with the old terms after the migration', () => {
  test.each([
    ['moves with its next renewal', 'renewal', [4_900n]],
    ['moves at once', 'now', [3_000n]],
  ] as const)('%s if its payment was created before the migration', async (_name, when, totals) => {
    const planRef = await stack.createPlan({ price: 1_900 })
    const payment = await createPayment(planRef, `late-${when}`)
    stack.setTime('2026-06-01T00:00:10Z')
    await stack.changePlan(planRef, { price: 4_900 })
    const migration = await stack.migrate(planRef, { when })
    await stack.process('2026-06-01T00:00:20Z')
    expect(await stack.read(migration)).toMatchObject({
      status: 'done',
      progress: { scheduled: 0 },
    })
    await pay(payment)
    const { reference } = await stack.held(payment.customerRef)
    expect((await stack.purchasesOf(migration)).get(reference)?.status).toBe('scheduled')
    await stack.changeAndRenew(when === 'now' ? '2026-06-01T00:00:20Z' : july)
    const held = await stack.held(payment.customerRef)
    expect(held.planSnapshot).toMatchObject({ priceMinor: 4_900 })
    expect(await stack.totalsOf(held.reference)).toEqual(totals)
  })

  test('waits while the migration is paused, and moves after it is resumed', async () => {
    const planRef = await stack.createPlan({ price: 1_900 })
    const before = await renewals.buy(planRef)
    const payment = await createPayment(planRef, 'late-paused')
    stack.setTime('2026-06-01T00:00:10Z')
    await stack.changePlan(planRef, { price: 4_900 })
    const migration = await stack.migrate(planRef, { when: 'renewal' })
    await stack.move(migration, 'pause')
    await pay(payment)
    const { reference } = await stack.held(payment.customerRef)
    expect((await stack.purchasesOf(migration)).size).toBe(0)
    await stack.move(migration, 'resume')
    await stack.process(fifth, 1)
    expect([...(await stack.purchasesOf(migration)).keys()].toSorted()).toEqual(
      [reference, before.reference].toSorted(),
    )
  })

  test('keeps the old terms for its first period if the customer had chosen them for a renewal', async () => {
    const bigRef = await stack.createPlan({ price: 5_900 })
    const smallRef = await stack.createPlan({ price: 900, prorationPolicy: 'none' })
    const { customerRef } = await renewals.buy(bigRef)
    const request = { customerRef, productRef: payments.productRef, planRef: smallRef }
    await payments.call('POST', '/v1/sdk/activate', request)
    stack.setTime(fifth)
    await stack.changePlan(smallRef, { price: 1_200 })
    await stack.migrate(smallRef, { when: 'renewal' })
    await stack.process(fifth)
    await stack.changeAndRenew('2026-07-01T10:00:00Z')
    const begun = await stack.held(customerRef)
    expect(await stack.totalsOf(begun.reference)).toEqual([900n])
    await stack.changeAndRenew('2026-08-01T10:00:00Z')
    const held = await stack.held(customerRef)
    expect(held.replaces).toBe(begun.reference)
    expect(await stack.totalsOf(held.reference)).toEqual([1_200n])
  })

  test('is not moved if its terms are newer than the migration', async () => {
    const planRef = await stack.createPlan({ price: 1_900 })
    await stack.changePlan(planRef, { price: 2_900 })
    const migration = await stack.migrate(planRef, { when: 'renewal' })
    await stack.process(fifth)
    stack.setTime(fifth)
    await stack.changePlan(planRef, { price: 3_900 })
    const payment = await createPayment(planRef, 'late-newer')
    await stack.changePlan(planRef, { price: 4_900 })
    await pay(payment)
    expect((await stack.held(payment.customerRef)).scheduledPlan).toBeNull()
    expect((await stack.purchasesOf(migration)).size).toBe(0)
  })
})

test.each([
  ['with a notice tells its customers that their change is withdrawn', 30, 1],
  ['without a notice sends its customers no event', false, 0],
] as const)('a cancelled migration %s', async (_name, notice, told) => {
  const planRef = await stack.createPlan({ price: 1_900 })
  const { reference } = await renewals.buy(planRef)
  await stack.changePlan(planRef, { price: 4_900 })
  const migration = await stack.migrate(planRef, { when: 'renewal', notice })
  await stack.process(fifth)
  await stack.move(migration, 'cancel')
  await stack.process(fifth)
  const events = await payments.eventsOf(reference)
  expect(events.filter((type) => type === 'purchase.plan_change_withdrawn')).toHaveLength(told)
})

type OpenPayment = { readonly customerRef: string; readonly processorPaymentId: string }

/** Creates the payment of a new customer for a plan. */
async function createPayment(planRef: string, key: string): Promise<OpenPayment> {
  const customerRef = await payments.createCustomer()
  const of = { customerRef, productRef: payments.productRef, planRef, purpose: 'product' }
  const { body } = await payments.createIntent(key, of)
  return { customerRef, processorPaymentId: body.processorPaymentId }
}

async function pay({ customerRef, processorPaymentId }: OpenPayment): Promise<void> {
  await payments.confirm(processorPaymentId, 'pm_card_visa')
  const status = async (): Promise<string> =>
    (await payments.process<{ status: string }>(processorPaymentId, customerRef)).body.status
  await expect.poll(status, { timeout: 20_000 }).toBe('succeeded')
}
