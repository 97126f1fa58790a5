import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import type { ActivateResponse } from '@tollgate/schemas/http/activate'
import type { AutoRechargeResponse } from '@tollgate/schemas/http/auto-recharge'
import type { InvoiceBody, InvoiceSummaryBody } from '@tollgate/schemas/http/invoices'
import { eventually } from './payment-stack.ts'
import { RenewalStack } from './renewal-stack.ts'

/* A dispute is lost: what the payment paid for is suspended, and its card is not charged again. */

let purchase: Purchase

const monthly = { billingCycle: 'monthly' }

const stack = await RenewalStack.start({ hasWebhooks: true })
const planRef = await stack.payments.createPlan({ price: 1_900, ...monthly })
afterAll(() => stack.stop())
beforeEach(async () => {
  stack.payments.stack.clock.set('2026-06-01T00:00:00Z')
  await stack.payments.call('PATCH', '/v1/ui/merchant', { suspendOnDispute: null })
  await stack.sql`update purchases set status = 'expired'`
})

/** Disputes the purchase's latest succeeded payment or an earlier one. Returns the processor's id of the dispute. */
async function dispute({ reference }: Purchase, earlier = 0): Promise<string> {
  const rows = await stack.sql<{ id: string }[]>`
    select processor_payment_id as id from payment_intents
    where purchase_ref = ${reference} and status = 'succeeded'
    order by succeeded_at desc, created_at desc`
  const { payments } = stack
  const request = { payment_intent: rows[earlier]!.id }
  const { body } = await payments.stripe('GET', 'charges', request)
  const happened = await payments.simulate(`charges/${body.data![0]!.id}/dispute`, {})
  await disputeEventsOf(String(happened['id']), 'payment.disputed')
  return String(happened['id'])
}

async function close(id: string, ending: 'won' | 'lost'): Promise<void> {
  await stack.payments.simulate(`disputes/${id}/close`, { ending })
  await disputeEventsOf(id, 'payment.dispute_closed')
}

function disputeEventsOf(id: string, type: string): Promise<void> {
  return eventually(async () => expect(await stack.payments.eventsOf(id)).toContain(type))
}

async function eventsOf({ reference }: Purchase): Promise<string[]> {
  return (await stack.payments.eventsOf(reference)).filter((type) => type.startsWith('purchase.'))
}

function purchaseNow({ reference }: Purchase): Promise<Purchase> {
  return stack.purchase(reference)
}

async function disputesOnInvoices({ reference }: Purchase) {
  const path = `/v1/ui/invoices?purchaseRef=${reference}`
  const { body } = await stack.payments.call<{ invoices: InvoiceSummaryBody[] }>('GET', path)
  return body.invoices.map((invoice) => invoice.dispute)
}

async function chargesOf({ customerRef }: Purchase): Promise<number> {
  const [row] = await stack.sql<[{ count: number }]>`
    select count(*)::int from payment_intents where customer_ref = ${customerRef}`
  return row.count
}

describe('a dispute that is lost', () => {
  test('suspends the paid purchase, and does not charge the card for the next period', async () => {
    purchase = await stack.buy(planRef)
    const id = await dispute(purchase)
    expect((await purchaseNow(purchase)).status).toBe('active')
    expect(await disputesOnInvoices(purchase)).toEqual(['open'])
    await close(id, 'lost')
    expect(await purchaseNow(purchase)).toMatchObject({
      status: 'suspended',
      suspendedAt: new Date('2026-06-01T00:00:00Z'),
    })
    expect((await eventsOf(purchase)).slice(-1)).toEqual(['purchase.suspended'])
    const reasons = await stack.sql`
      select object->>'reason' as reason from outbox
      where type = 'purchase.suspended' and object->>'reference' = ${purchase.reference}`
    expect(reasons).toEqual([{ reason: 'charged_back' }])
    expect(await disputesOnInvoices(purchase)).toEqual(['lost'])
    await stack.runJob('renewals', '2026-07-01T10:00:00Z')
    await stack.runJob('payment-retries', '2026-07-08T10:00:00Z')
    expect(await chargesOf(purchase)).toBe(1)
    expect((await purchaseNow(purchase)).status).toBe('suspended')
  })

  test('is shown on the invoice, its payments and its pages', async () => {
    purchase = await stack.buy(planRef)
    await close(await dispute(purchase), 'lost')
    const [{ reference } = { reference: '' }] = await stack.sql<{ reference: string }[]>`
      select reference from invoices where purchase_ref = ${purchase.reference}`
    const path = `/v1/ui/invoices/${reference}`
    const { body } = await stack.payments.call<InvoiceBody>('GET', path)
    expect(body).toMatchObject({
      status: 'paid',
      dispute: 'lost',
      payments: [{ amount: 1_900, dispute: { status: 'lost', amount: 1_900 } }],
    })
  })

  test('is reported once, however often and in whatever order webhooks arrive', async () => {
    purchase = await stack.buy(planRef)
    const { payments } = stack
    await payments.simulate('webhooks', { isHeld: true, order: 'reversed', copies: 3 })
    const [{ id: payment } = { id: '' }] = await stack.sql<{ id: string }[]>`
      select processor_payment_id as id from payment_intents where purchase_ref = ${purchase.reference}`
    const { body } = await payments.stripe('GET', 'charges', { payment_intent: payment })
    const happened = await payments.simulate(`charges/${body.data![0]!.id}/dispute`, {})
    await payments.simulate(`disputes/${String(happened['id'])}/close`, { ending: 'lost' })
    await payments.simulate('webhooks/flush')
    await payments.simulate('webhooks', { isHeld: false, order: 'created', copies: 1 })
    await disputeEventsOf(String(happened['id']), 'payment.dispute_closed')
    expect((await eventsOf(purchase)).filter((type) => type === 'purchase.suspended')).toHaveLength(
      1,
    )
  })

  test('keeps the purchase if it concerns an earlier period and another card has paid since', async () => {
    purchase = await stack.buy(planRef)
    const id = await dispute(purchase)
    await stack.replaceCard(purchase.customerRef, 'pm_card_mastercard')
    await stack.runJob('renewals', '2026-07-01T10:00:00Z')
    await close(id, 'lost')
    expect((await purchaseNow(purchase)).status).toBe('active')
    expect(await disputesOnInvoices(purchase)).toEqual([undefined, 'lost'])
    // The other card is still charged.
    await stack.runJob('renewals', '2026-08-01T10:00:00Z')
    expect(await purchaseNow(purchase)).toMatchObject({
      status: 'active',
      nextBillingDate: new Date('2026-09-01T00:00:00Z'),
    })
  })

  test('suspends the purchase if it concerns an earlier period and the same card has paid since', async () => {
    purchase = await stack.buy(planRef)
    await stack.runJob('renewals', '2026-07-01T10:00:00Z')
    await close(await dispute(purchase, 1), 'lost')
    expect((await purchaseNow(purchase)).status).toBe('suspended')
    expect(await disputesOnInvoices(purchase)).toEqual([undefined, 'lost'])
  })

  test('suspends the plan that began with the disputed set-up fee', async () => {
    const plan = await stack.payments.createPlan({ price: 1_900, setupFee: 500, ...monthly })
    purchase = await stack.buy(plan)
    await close(await dispute(purchase), 'lost')
    expect((await purchaseNow(purchase)).status).toBe('suspended')
  })

  test('stops renewals of other plans with the card until another card is saved', async () => {
    purchase = await stack.buy(planRef)
    const product = { name: 'Another' }
    const made = await stack.payments.call<{ reference: string }>(
      'POST',
      '/v1/sdk/products',
      product,
    )
    const path = `/v1/sdk/products/${made.body.reference}/plans`
    const other = await stack.payments.call<{ reference: string }>('POST', path, {
      name: 'Other',
      price: 700,
      ...monthly,
    })
    const { customerRef } = purchase
    const request = { customerRef, productRef: made.body.reference, planRef: other.body.reference }
    const { body } = await stack.payments.createIntent(`other-${customerRef}`, request)
    await stack.payments.confirm(body.processorPaymentId, 'pm_card_visa')
    await stack.payments.process(body.processorPaymentId, customerRef)
    // The saved card is that of the second payment, which is now disputed.
    const second = (await stack.purchasesOf(customerRef)).find(
      ({ reference }) => reference !== purchase.reference,
    )!
    await close(await dispute(second), 'lost')
    expect((await purchaseNow(second)).status).toBe('suspended')
    expect((await purchaseNow(purchase)).status).toBe('active')
    await stack.runJob('renewals', '2026-07-01T10:00:00Z')
    expect((await purchaseNow(purchase)).status).toBe('past_due')
    expect(await chargesOf(purchase)).toBe(2)
    await stack.payWith(customerRef, 'pm_card_mastercard')
    await stack.runJob('payment-retries', '2026-07-02T10:00:00Z')
    expect((await purchaseNow(purchase)).status).toBe('active')
    expect((await purchaseNow(second)).status).toBe('suspended')
  })
})

test('starts a plan that is paid after a lost dispute only with another card', async () => {
  const postPaid = await stack.payments.createPlan({
    type: 'usage-based',
    billingModel: 'post-paid',
    billingCycle: 'monthly',
    creditsPerUnit: 100,
  })
  purchase = await stack.buy(planRef)
  await close(await dispute(purchase), 'lost')
  const { customerRef } = purchase
  const { payments } = stack
  const request = { customerRef, productRef: payments.productRef, planRef: postPaid }
  const activate = () => payments.call<ActivateResponse>('POST', '/v1/sdk/activate', request)
  expect(await activate()).toMatchObject({
    body: { status: 'invalid', message: expect.stringContaining('Save another card') as string },
  })
  expect((await purchaseNow(purchase)).status).toBe('suspended')
  await stack.payWith(customerRef, 'pm_card_mastercard')
  expect((await activate()).body.status).toBe('activated')
})

test('changes nothing if the dispute is won', async () => {
  purchase = await stack.buy(planRef)
  await close(await dispute(purchase), 'won')
  expect((await purchaseNow(purchase)).status).toBe('active')
  expect(await eventsOf(purchase)).toEqual(['purchase.created', 'purchase.activated'])
  await stack.runJob('renewals', '2026-07-01T10:00:00Z')
  expect(await purchaseNow(purchase)).toMatchObject({
    status: 'active',
    nextBillingDate: new Date('2026-08-01T00:00:00Z'),
  })
})

describe('with access suspended as soon as a dispute opens', () => {
  beforeEach(async () => {
    await stack.payments.call('PATCH', '/v1/ui/merchant', { suspendOnDispute: 'opened' })
  })

  test('restores access when the dispute is won', async () => {
    purchase = await stack.buy(planRef)
    const id = await dispute(purchase)
    expect((await purchaseNow(purchase)).status).toBe('suspended')
    stack.payments.stack.clock.set('2026-06-10T00:00:00Z')
    await close(id, 'won')
    expect(await purchaseNow(purchase)).toMatchObject({
      status: 'active',
      nextBillingDate: new Date('2026-07-01T00:00:00Z'),
    })
    expect((await eventsOf(purchase)).slice(-2)).toEqual([
      'purchase.suspended',
      'purchase.activated',
    ])
    await stack.runJob('renewals', '2026-07-01T10:00:00Z')
    expect((await purchaseNow(purchase)).nextBillingDate).toEqual(new Date('2026-08-01T00:00:00Z'))
  })

  test('does not charge the periods that passed meanwhile', async () => {
    purchase = await stack.buy(planRef)
    const id = await dispute(purchase)
    stack.payments.stack.clock.set('2026-09-10T00:00:00Z')
    await close(id, 'won')
    expect(await purchaseNow(purchase)).toMatchObject({
      status: 'active',
      nextBillingDate: new Date('2026-09-01T00:00:00Z'),
    })
  })

  test('keeps access suspended when the dispute is lost', async () => {
    purchase = await stack.buy(planRef)
    await close(await dispute(purchase), 'lost')
    expect((await purchaseNow(purchase)).status).toBe('suspended')
    expect((await eventsOf(purchase)).slice(-2)).toEqual([
      'purchase.activated',
      'purchase.suspended',
    ])
  })
})

describe('a top-up whose payment was charged back', () => {
  test('loses its credits, and buys no more with the card until another one is saved', async () => {
    const { payments } = stack
    const customerRef = await payments.createCustomer()
    await stack.payWith(customerRef, 'pm_card_visa')
    const recharge = async () => {
      const path = `/v1/sdk/auto-recharge?customerRef=${customerRef}`
      return (await payments.call<AutoRechargeResponse>('GET', path)).body.config?.status
    }
    await eventually(async () => expect(await recharge()).toBe('active'))
    const [{ purchase_ref: reference } = { purchase_ref: '' }] = await stack.sql<
      { purchase_ref: string }[]
    >`select purchase_ref from payment_intents where customer_ref = ${customerRef}`
    const [bought] = (await stack.purchasesOf(customerRef)).filter(
      (each) => each.reference === reference,
    )
    const id = await dispute(bought!)
    await eventually(async () => expect(await payments.balanceOf(customerRef)).toBe(0))
    // The bank has not decided yet, so the card stays, but it does not buy the disputed credits again.
    expect(await recharge()).toBe('active')
    await new Promise((resolve) => setTimeout(resolve, 500))
    expect(await chargesOf(bought!)).toBe(1)
    await close(id, 'lost')
    expect(await recharge()).toBe('pending_setup')
    const payment = await payments.call('GET', `/v1/sdk/payment-method?customerRef=${customerRef}`)
    expect(payment.body).toMatchObject({ kind: 'card', last4: '4242', reusable: false })
    await new Promise((resolve) => setTimeout(resolve, 500))
    expect(await chargesOf(bought!)).toBe(1)
  })
})
