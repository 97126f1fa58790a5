import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { listLines } from '@tollgate/domain/invoices/lines'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import type { LimitsResponse } from '@tollgate/schemas/http/limits'
import type { ActivateResponse } from '@tollgate/schemas/http/activate'
import type {
  PaymentIntentBody,
  ProcessedPaymentBody,
} from '@tollgate/schemas/http/payment-intents'
import { eventually } from './payment-stack.ts'
import { RenewalStack } from './renewal-stack.ts'

/* A customer who paid for June changes the plan on the 11th, when 20 of the 30 days are left. */

let purchase: Purchase
let sequence = 0

const monthly = { billingCycle: 'monthly', prorationPolicy: 'proportional' }

const stack = await RenewalStack.start({ hasWebhooks: true })
const small = await stack.payments.createPlan({ price: 1_900, ...monthly })
const big = await stack.payments.createPlan({ price: 4_900, ...monthly })
afterAll(() => stack.stop())
beforeEach(() => {
  stack.payments.stack.clock.set('2026-06-01T00:00:00Z')
  return stack.sql`update purchases set status = 'expired'`
})

async function start(planRef: string): Promise<void> {
  purchase = await stack.buy(planRef)
  stack.payments.stack.clock.set('2026-06-11T00:00:00Z')
}

async function ask(planRef: string) {
  const { payments } = stack
  const { customerRef } = purchase
  sequence += 1
  const request = { customerRef, productRef: payments.productRef, planRef }
  return payments.createIntent(`switch-${sequence}`, request)
}

async function pay({ processorPaymentId }: PaymentIntentBody): Promise<ProcessedPaymentBody> {
  await stack.payments.confirm(processorPaymentId)
  const { customerRef } = purchase
  const path = await stack.payments.process<ProcessedPaymentBody>(processorPaymentId, customerRef)
  return path.body
}

async function activate(planRef: string): Promise<ActivateResponse> {
  const { payments } = stack
  const request = { customerRef: purchase.customerRef, productRef: payments.productRef, planRef }
  return (await payments.call<ActivateResponse>('POST', '/v1/sdk/activate', request)).body
}

async function held(): Promise<Purchase> {
  const purchases = await stack.purchasesOf(purchase.customerRef)
  return purchases.find(({ status }) => status === 'active')!
}

async function invoicesWithLines(purchaseRef: string) {
  const { providerId } = stack.payments.tenant
  const invoices = await stack.invoicesOf(purchaseRef)
  return Promise.all(
    invoices.map(async (invoice) => ({
      ...invoice,
      lines: await listLines(stack.sql, providerId, invoice.reference),
    })),
  )
}

async function accounts(): Promise<Record<string, number>> {
  const rows = await stack.sql<{ account: string; sum: string }[]>`
    select account, sum(amount) from ledger_entries
    where customer_ref = ${purchase.customerRef} and unit = 'USD'
    group by account having sum(amount) <> 0`
  return Object.fromEntries(rows.map(({ account, sum }) => [account, Number(sum)]))
}

test('charges the difference for the remaining days for a more expensive plan, and keeps the period', async () => {
  await start(small)
  const { body: intent } = await ask(big)
  expect(intent).toMatchObject({ amount: 2_000, originalAmount: 2_000 })
  expect((await pay(intent)).status).toBe('succeeded')
  const after = await held()
  expect(after).toMatchObject({
    planRef: big,
    amountMinor: 4_900,
    anchor: new Date('2026-06-01T00:00:00Z'),
    startDate: new Date('2026-06-11T00:00:00Z'),
    nextBillingDate: new Date('2026-07-01T00:00:00Z'),
  })
  const [invoice] = await invoicesWithLines(after.reference)
  expect(invoice).toMatchObject({
    status: 'paid',
    totalMinor: 2_000n,
    paidMinor: 2_000n,
    lines: [
      {
        description: 'Change to Plan',
        period: { start: new Date('2026-06-11T00:00:00Z'), end: new Date('2026-07-01T00:00:00Z') },
        inputs: {
          kind: 'proration',
          policy: 'proportional',
          oldMinor: '1900',
          newMinor: '4900',
          secondsLeft: 20 * 86_400,
          secondsInPeriod: 30 * 86_400,
        },
      },
    ],
  })
  const events = await stack.payments.eventsOf(purchase.customerRef)
  expect(events.slice(events.indexOf('purchase.expired'))).toEqual([
    'purchase.expired',
    'purchase.created',
    'purchase.activated',
    'purchase.plan_changed',
  ])
  await stack.runJob('renewals', '2026-07-01T10:00:00Z')
  expect((await invoicesWithLines(after.reference)).map(({ totalMinor }) => totalMinor)).toEqual([
    4_900n,
    2_000n,
  ])
  expect(await accounts()).toMatchObject({ revenue: -(1_900 + 2_000 + 4_900) })
})

test('starts a cheaper plan at once, and credits the difference on the next invoice', async () => {
  await start(big)
  const refused = await ask(small)
  expect([refused.status, refused.body]).toMatchObject([
    400,
    { message: expect.stringContaining('needs no payment now: activate it') as string },
  ])
  expect(await activate(small)).toMatchObject({ status: 'activated' })
  const after = await held()
  expect(after).toMatchObject({
    planRef: small,
    amountMinor: 1_900,
    nextBillingDate: new Date('2026-07-01T00:00:00Z'),
  })
  expect(await invoicesWithLines(after.reference)).toMatchObject([
    { status: 'paid', totalMinor: -2_000n, carriedMinor: -2_000n, paidMinor: 0n },
  ])
  // The rest of June pays all of July, and 1 dollar remains for August.
  await stack.runJob('renewals', '2026-07-01T10:00:00Z')
  expect(await held()).toMatchObject({ nextBillingDate: new Date('2026-08-01T00:00:00Z') })
  await stack.runJob('renewals', '2026-08-01T10:00:00Z')
  const [august, july] = await invoicesWithLines(after.reference)
  expect([july!.totalMinor, august!.totalMinor]).toEqual([-100n, 1_800n])
  expect(august!.status).toBe('paid')
  expect(await accounts()).toMatchObject({ revenue: -(4_900 - 2_000 + 1_900 + 1_900) })
})

describe('between plans that include a number of units', () => {
  const planWith = (price: number, limit: number) =>
    stack.payments.createPlan({ price, limit, ...monthly })

  test('starts a cheaper plan with the renewal, without a credit', async () => {
    const [one, other] = [await planWith(4_900, 300), await planWith(1_900, 100)]
    await start(one)
    expect((await ask(other)).status).toBe(400)
    expect(await activate(other)).toMatchObject({
      message: 'Nothing is charged today. Plan starts on 2026-07-01, with the next renewal.',
    })
    expect(await held()).toMatchObject({ planRef: one, scheduledPlan: { reference: other } })
    expect(await stack.invoicesOf(purchase.reference)).toEqual([])
  })

  test('adds units for the remaining days with a more expensive plan', async () => {
    const [one, other] = [await planWith(1_900, 100), await planWith(4_900, 300)]
    await start(one)
    await pay((await ask(other)).body)
    const { payments } = stack
    const { customerRef } = purchase
    const request = { customerRef, productRef: payments.productRef }
    const { body } = await payments.call<LimitsResponse>('POST', '/v1/sdk/limits', request)
    // The change adds 200 units for 20 of 30 days.
    expect(body).toMatchObject({ withinLimits: true, remaining: 233, plan: other })
  })

  test('refuses a cheaper plan if there is no renewal', async () => {
    const [one, other] = [await planWith(4_900, 300), await planWith(1_900, 100)]
    await start(one)
    await stack.sql`update purchases set auto_renew = false, next_billing_date = null,
      end_date = '2026-07-01T00:00:00Z' where reference = ${purchase.reference}`
    expect(await activate(other)).toMatchObject({
      status: 'invalid',
      message: expect.stringContaining('is paid until 2026-07-01') as string,
    })
    expect((await ask(other)).status).toBe(400)
  })
})

test('changes the plan with the next renewal under the policy `none`', async () => {
  const later = { billingCycle: 'monthly', prorationPolicy: 'none' }
  const planRef = await stack.payments.createPlan({ price: 4_900, setupFee: 100, ...later })
  await start(small)
  expect((await ask(planRef)).status).toBe(400)
  expect(await activate(planRef)).toEqual({
    status: 'activated',
    purchaseRef: purchase.reference,
    message: 'Nothing is charged today. Plan starts on 2026-07-01, with the next renewal.',
  })
  expect(await held()).toMatchObject({
    reference: purchase.reference,
    planRef: small,
    scheduledPlan: { reference: planRef },
  })
  await stack.runJob('renewals', '2026-07-01T10:00:00Z')
  await stack.runJob('renewals', '2026-07-01T10:00:01Z')
  const after = await held()
  expect(after).toMatchObject({
    planRef,
    replaces: purchase.reference,
    startDate: new Date('2026-07-01T00:00:00Z'),
    nextBillingDate: new Date('2026-08-01T00:00:00Z'),
    scheduledPlan: null,
  })
  expect(await stack.invoicesOf(after.reference)).toMatchObject([
    { status: 'paid', totalMinor: 5_000n },
  ])
  const events = await stack.payments.eventsOf(purchase.customerRef)
  expect(events).toContain('purchase.plan_changed')
})

test('charges the set-up fee of a plan without a price with the renewal that starts it', async () => {
  const free = { price: 0, setupFee: 500, billingCycle: 'monthly', prorationPolicy: 'none' }
  const planRef = await stack.payments.createPlan(free)
  await start(small)
  await activate(planRef)
  await stack.runJob('renewals', '2026-07-01T10:00:00Z')
  await stack.runJob('renewals', '2026-07-01T10:00:01Z')
  const after = await held()
  expect(after).toMatchObject({ planRef, nextBillingDate: new Date('2026-08-01T00:00:00Z') })
  expect(await stack.invoicesOf(after.reference)).toMatchObject([
    { status: 'paid', totalMinor: 500n },
  ])
})

test('lets the customer replace and withdraw a change that waits for the renewal', async () => {
  const later = { billingCycle: 'monthly', prorationPolicy: 'none' }
  const one = await stack.payments.createPlan({ price: 4_900, ...later })
  const other = await stack.payments.createPlan({ price: 900, ...later })
  await start(small)
  await activate(one)
  await activate(other)
  expect(await held()).toMatchObject({ planRef: small, scheduledPlan: { reference: other } })
  expect(await activate(small)).toEqual({
    status: 'already_active',
    purchaseRef: purchase.reference,
    message: 'The change to Plan is withdrawn.',
  })
  await stack.runJob('renewals', '2026-07-01T10:00:00Z')
  expect(await held()).toMatchObject({ reference: purchase.reference, scheduledPlan: null })
})

test('charges the full price for a new period under the policy `full`', async () => {
  const full = { billingCycle: 'monthly', prorationPolicy: 'full' }
  const planRef = await stack.payments.createPlan({ price: 4_900, ...full })
  await start(small)
  const { body: intent } = await ask(planRef)
  expect(intent).toMatchObject({ amount: 4_900 })
  await pay(intent)
  expect(await held()).toMatchObject({
    anchor: new Date('2026-06-11T00:00:00Z'),
    nextBillingDate: new Date('2026-07-11T00:00:00Z'),
  })
})

test('charges the difference for a plan without a policy', async () => {
  const planRef = await stack.payments.createPlan({ price: 4_900, billingCycle: 'monthly' })
  await start(small)
  const { body: intent } = await ask(planRef)
  expect(intent).toMatchObject({ amount: 2_000 })
})

test('charges the set-up fee when the plan is bought for the first time', async () => {
  const planRef = await stack.payments.createPlan({ price: 4_900, setupFee: 500, ...monthly })
  await start(small)
  const { body: intent } = await ask(planRef)
  expect(intent).toMatchObject({ amount: 2_500 })
  await pay(intent)
  const [invoice] = await invoicesWithLines((await held()).reference)
  expect(invoice!.lines.map(({ amountMinor }) => amountMinor)).toEqual([2_000n, 500n])
})

test('adds tax to the difference and to its invoice', async () => {
  await start(small)
  const merchant = { country: 'SE', vatNumber: 'SE556012579001' }
  await stack.payments.call('PATCH', '/v1/ui/merchant', merchant)
  const { body: intent } = await ask(big)
  const path = `/v1/sdk/payment-intents/${intent.processorPaymentId}/business-details`
  await stack.payments.call('POST', path, { isBusiness: false, customerCountry: 'SE' })
  await pay(intent)
  const [invoice] = await invoicesWithLines((await held()).reference)
  expect(invoice).toMatchObject({ status: 'paid', totalMinor: 2_500n, paidMinor: 2_500n })
  expect(invoice!.lines[1]).toMatchObject({ amountMinor: 500n, inputs: { kind: 'tax' } })
  expect(await accounts()).toMatchObject({ revenue: -(1_900 + 2_000), tax: -500 })
  // The tax belongs to the invoice, and is reduced by its credit notes.
  await stack.payments.stripe('POST', 'refunds', { payment_intent: intent.processorPaymentId })
  await eventually(async () => {
    const refunds = await stack.sql<{ amount: string; tax: string }[]>`
      select amount::text, tax::text from payment_refunds where intent_ref = ${intent.transactionId!}`
    expect(refunds).toEqual([{ amount: '2500', tax: '0' }])
  })
})

test('refunds the payment for a change that is no longer possible', async () => {
  await start(small)
  stack.payments.stack.clock.set('2026-06-30T12:00:00Z')
  const { body: intent } = await ask(big)
  expect(intent).toMatchObject({ amount: 50 })
  await stack.runJob('renewals', '2026-07-01T10:00:00Z')
  await pay(intent)
  expect(await held()).toMatchObject({ reference: purchase.reference, planRef: small })
  await eventually(async () => {
    const [refund] = await stack.sql<{ amount: string }[]>`
      select amount from payment_refunds where intent_ref = ${intent.transactionId!}`
    expect(Number(refund?.amount)).toBe(50)
  })
})

describe('the set-up fee', () => {
  const terms = { price: 1900, setupFee: 500, billingCycle: 'monthly', trialDays: 14 }
  let feeRef: string
  let customerRef: string

  beforeEach(async () => {
    feeRef = await stack.payments.createPlan(terms)
    purchase = await stack.buy(feeRef)
    customerRef = purchase.customerRef
  })

  async function dueNow(): Promise<number | undefined> {
    const request = { customerRef, productRef: stack.payments.productRef, planRef: feeRef }
    sequence += 1
    return (await stack.payments.createIntent(`fee-${sequence}`, request)).body.amount
  }

  test('is due at checkout after a trial that was never paid', async () => {
    await stack.asTrial(purchase.reference, '2026-06-15T00:00:00Z')
    expect(await dueNow()).toBe(2_400)
    await stack.sql`delete from customer_cards where customer_ref = ${customerRef}`
    await stack.runJob('trial-expiry', '2026-06-16T00:00:00Z')
    expect((await stack.purchase(purchase.reference)).status).toBe('suspended')
    expect(await dueNow()).toBe(2_400)
    await stack.pay(customerRef, feeRef, 'pm_card_visa')
    await stack.sql`update purchases set status = 'expired' where customer_ref = ${customerRef}`
    expect(await dueNow()).toBe(1_900)
  })

  test('is due again once everything that was paid is refunded', async () => {
    const [bought] = await stack.sql<{ processor_payment_id: string }[]>`
      select processor_payment_id from payment_intents where customer_ref = ${customerRef}`
    const refund = { payment_intent: bought!.processor_payment_id }
    await stack.payments.stripe('POST', 'refunds', refund)
    await eventually(async () =>
      expect((await stack.purchase(purchase.reference)).status).toBe('refunded'),
    )
    expect(await dueNow()).toBe(2_400)
  })

  test('is not due again if only a later period is refunded', async () => {
    await stack.runJob('renewals', '2026-07-01T10:00:00Z')
    const [renewal] = await stack.paymentsOf(purchase.reference)
    await stack.payments.stripe('POST', 'refunds', { payment_intent: renewal! })
    await eventually(async () =>
      expect((await stack.purchase(purchase.reference)).status).toBe('refunded'),
    )
    expect(await dueNow()).toBe(1_900)
  })
})
