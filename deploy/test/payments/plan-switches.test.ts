import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { listLines } from '@tollgate/domain/invoices/lines'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import type { ActivateResponse } from '@tollgate/schemas/http/activate'
import type {
  PaymentIntentBody,
  ProcessedPaymentBody,
} from '@tollgate/schemas/http/payment-intents'
import { eventually } from './payment-stack.ts'
import { RenewalStack } from './renewal-stack.ts'

/* A customer that has paid for June takes another plan on the 11th: 20 of its 30 days are left. */

let stack: RenewalStack
let small: string
let big: string
let purchase: Purchase
let sequence = 0

const monthly = { billingCycle: 'monthly', prorationPolicy: 'proportional' }

beforeAll(async () => {
  stack = await RenewalStack.start({ hasWebhooks: true })
  small = await stack.payments.createPlan({ price: 1_900, ...monthly })
  big = await stack.payments.createPlan({ price: 4_900, ...monthly })
})
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
  const asked = { customerRef, productRef: payments.productRef, planRef }
  return payments.createIntent(`switch-${sequence}`, asked)
}

async function pay({ processorPaymentId }: PaymentIntentBody): Promise<ProcessedPaymentBody> {
  await stack.payments.confirm(processorPaymentId)
  const { customerRef } = purchase
  const path = await stack.payments.process<ProcessedPaymentBody>(processorPaymentId, customerRef)
  return path.body
}

async function activate(planRef: string): Promise<ActivateResponse> {
  const { payments } = stack
  const asked = { customerRef: purchase.customerRef, productRef: payments.productRef, planRef }
  return (await payments.call<ActivateResponse>('POST', '/v1/sdk/activate', asked)).body
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

test('a dearer plan costs the difference for the days that are left, and goes on with the period', async () => {
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
  const told = await stack.payments.eventsOf(purchase.customerRef)
  expect(told.slice(told.indexOf('purchase.expired'))).toEqual([
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

test('a cheaper plan is taken at once, and what was paid too much lowers the next invoice', async () => {
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
  // The whole of July is paid with what is left of June, and a dollar waits for August.
  await stack.runJob('renewals', '2026-07-01T10:00:00Z')
  expect(await held()).toMatchObject({ nextBillingDate: new Date('2026-08-01T00:00:00Z') })
  await stack.runJob('renewals', '2026-08-01T10:00:00Z')
  const [august, july] = await invoicesWithLines(after.reference)
  expect([july!.totalMinor, august!.totalMinor]).toEqual([-100n, 1_800n])
  expect(august!.status).toBe('paid')
  expect(await accounts()).toMatchObject({ revenue: -(4_900 - 2_000 + 1_900 + 1_900) })
})

test('by the policy none nothing is charged before the next renewal', async () => {
  const later = { billingCycle: 'monthly', prorationPolicy: 'none' }
  const planRef = await stack.payments.createPlan({ price: 4_900, ...later })
  await start(small)
  expect((await ask(planRef)).status).toBe(400)
  expect(await activate(planRef)).toMatchObject({ status: 'activated' })
  const after = await held()
  expect(await stack.invoicesOf(after.reference)).toEqual([])
  await stack.runJob('renewals', '2026-07-01T10:00:00Z')
  expect(await stack.invoicesOf(after.reference)).toMatchObject([
    { status: 'paid', totalMinor: 4_900n },
  ])
})

test.each([{ prorationPolicy: 'full' }, {}])(
  'by %j the price is charged in full, for a period of its own',
  async (policy) => {
    const planRef = await stack.payments.createPlan({
      ...{ price: 4_900, billingCycle: 'monthly' },
      ...policy,
    })
    await start(small)
    const { body: intent } = await ask(planRef)
    expect(intent).toMatchObject({ amount: 4_900 })
    await pay(intent)
    expect(await held()).toMatchObject({
      anchor: new Date('2026-06-11T00:00:00Z'),
      nextBillingDate: new Date('2026-07-11T00:00:00Z'),
    })
  },
)

test('the set-up fee comes with a plan that is taken for the first time', async () => {
  const planRef = await stack.payments.createPlan({ price: 4_900, setupFee: 500, ...monthly })
  await start(small)
  const { body: intent } = await ask(planRef)
  expect(intent).toMatchObject({ amount: 2_500 })
  await pay(intent)
  const [invoice] = await invoicesWithLines((await held()).reference)
  expect(invoice!.lines.map(({ amountMinor }) => amountMinor)).toEqual([2_000n, 500n])
})

test('tax comes on top of the difference, and on its invoice', async () => {
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
  // The tax is the invoice's, and goes with credit notes of it.
  await stack.payments.stripe('POST', 'refunds', { payment_intent: intent.processorPaymentId })
  await eventually(async () => {
    const refunds = await stack.sql<{ amount: string; tax: string }[]>`
      select amount::text, tax::text from payment_refunds where intent_ref = ${intent.transactionId!}`
    expect(refunds).toEqual([{ amount: '2500', tax: '0' }])
  })
})

test('what was paid for a change that is not possible any more is paid back', async () => {
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
