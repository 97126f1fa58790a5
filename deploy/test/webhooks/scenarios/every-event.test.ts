import type { BalancePayoutBody } from '@tollgate/schemas/http/customer-balances'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventTypes } from '@tollgate/schemas/event-types'
import { topUpTerms } from '../../payments/payment-stack.ts'
import { Deliveries } from './deliveries.ts'
import { ScenarioWorld } from './scenario-world.ts'

/*
 * Every type of event occurs for a real reason and arrives at a receiver built from the documentation only. It is one story that
 * begins on the last day of January, so later tests depend on earlier ones.
 */

const opensAt = '2026-01-31T12:00:00Z'
const monthly = { billingCycle: 'monthly' } as const

const world = await ScenarioWorld.open(opensAt)
const deliveries = await Deliveries.open(world)
const planRef = await world.createPlan({ ...monthly, price: 1900 })
afterAll(async () => {
  await deliveries.close()
  await world.close()
})

describe('the catalog', () => {
  test('emits events when a product is created, updated and deleted', async () => {
    const { reference } = await world.createProduct({ name: 'Maps', productType: 'API' })
    const path = `/v1/sdk/products/${reference}`
    await world.call('PUT', path, { name: 'World maps' })
    await world.call('DELETE', path)
    const named = { id: reference, isManagedMcp: false, isMcpPay: false, productType: 'API' }
    await deliveries.expect('product.created', { ...named, name: 'Maps', status: 'active' })
    await deliveries.expect('product.updated', { ...named, name: 'World maps' })
    await deliveries.expect('product.archived', { ...named, status: 'inactive' })
  })

  test('emits events when a plan is created, updated and deleted', async () => {
    const reference = await world.createPlan({ name: 'Small', ...monthly, price: 500 })
    const path = `/v1/sdk/products/${world.productRef}/plans/${reference}`
    await world.call('PUT', path, { name: 'Tiny' })
    await world.call('DELETE', path)
    const named = { id: reference, kind: 'recurring', price: 500, currency: 'usd' }
    await deliveries.expect('plan.created', { ...named, name: 'Small', requiresPayment: true })
    await deliveries.expect('plan.updated', { ...named, name: 'Tiny', status: 'active' })
    await deliveries.expect('plan.archived', { ...named, status: 'archived' })
  })
})

test('emits events when a customer is created, updated and deleted', async () => {
  const customerRef = await world.createCustomer()
  const path = `/v1/sdk/customers/${customerRef}`
  await world.call('PATCH', path, { name: 'Ada' }, 'rename-ada')
  await deliveries.expect('customer.created', { id: customerRef, name: null, product: null })
  const renamed = await deliveries.expect('customer.updated', { id: customerRef, name: 'Ada' })
  expect(renamed.request).toEqual({
    id: expect.any(String) as string,
    idempotency_key: 'rename-ada',
  })
  await world.call('DELETE', `/v1/ui/customers/${customerRef}`)
  const created = Date.parse(opensAt) / 1000
  const { data } = await deliveries.expect('customer.deleted', { id: customerRef })
  expect(data.object).toEqual({ id: customerRef, created })
})

describe('a purchase', () => {
  test('replaces the purchase of another plan', async () => {
    const [free, large] = [
      await world.createPlan({ ...monthly, price: 0 }),
      await world.createPlan({ ...monthly, price: 0 }),
    ]
    const customerRef = await world.createCustomer()
    await world.activate(customerRef, free)
    const before = await world.purchaseOf(customerRef)
    await world.activate(customerRef, large)
    const { reference } = await world.purchaseOf(customerRef)
    await deliveries.expect('purchase.created', { id: reference, plan: large, status: 'active' })
    await deliveries.expect('purchase.expired', { id: before.reference, status: 'expired' })
    const { data } = await deliveries.expect('purchase.plan_changed', { id: reference })
    expect(data).toMatchObject({
      object: { plan: large, customer: customerRef },
      previous_attributes: { plan: free },
    })
  })

  test('is activated by its first payment, and ends when that is refunded', async () => {
    const { paymentId, purchase, customerRef } = await world.createHolder(planRef)
    const paid = { customer: customerRef, plan: planRef, amount: 1900, currency: 'usd' }
    const activated = { id: purchase.reference, status: 'active', isRecurring: true, ...paid }
    await deliveries.expect('purchase.activated', activated)
    await deliveries.expect('payment.succeeded', { ...paid, processor_payment_intent: paymentId })
    const refund = await world.stripe('POST', 'refunds', { payment_intent: paymentId })
    await deliveries.expect('payment.refunded', { processor_refund: refund.id, amount: 1900 })
    await deliveries.expect('purchase.refunded', { id: purchase.reference, status: 'refunded' })
  })

  test('says that its plan will change', async () => {
    const { purchase, customerRef } = await world.createHolder(planRef)
    const large = await world.createPlan({ ...monthly, price: 4900 })
    const path = `/v1/sdk/purchases/${purchase.reference}/scheduled-change`
    await world.call('PUT', path, { planRef: large })
    const scheduled = { id: purchase.reference, plan: large, amount: 4900, customer: customerRef }
    const { data } = await deliveries.expect('purchase.plan_change_scheduled', scheduled)
    expect(data).toMatchObject({ previous_attributes: { plan: planRef } })
    await world.call('DELETE', path)
    await deliveries.expect('purchase.plan_change_withdrawn', { id: purchase.reference })
  })

  test('can be reactivated after a cancellation', async () => {
    const { purchase } = await world.createHolder(planRef)
    const path = `/v1/sdk/purchases/${purchase.reference}`
    await world.call('POST', `${path}/cancel`, { reason: 'too dear' })
    const active = { id: purchase.reference, status: 'active' }
    await deliveries.expect('purchase.cancellation_scheduled', active)
    await world.call('POST', `${path}/reactivate`)
    await deliveries.expect('purchase.reactivated', active)
  })
})

describe('a payment', () => {
  test('fails, and another one is cancelled', async () => {
    const customerRef = await world.createCustomer()
    const request = { productRef: world.productRef, planRef }
    const declined = await world.createIntent(customerRef, request)
    await world.confirm(declined.processorPaymentId, 'pm_card_visa_chargeDeclined')
    await deliveries.expect('payment.failed', {
      processor_payment_intent: declined.processorPaymentId,
      failure_reason: 'generic_decline',
    })
    const { processorPaymentId } = await world.createIntent(await world.createCustomer(), request)
    await world.stripe('POST', `payment_intents/${processorPaymentId}/cancel`)
    const canceled = { processor_payment_intent: processorPaymentId, amount: 1900 }
    await deliveries.expect('payment.canceled', canceled)
  })

  test('is refunded, or its refund fails', async () => {
    const { paymentId } = await world.createHolder(planRef, 'pm_card_pendingRefund')
    const { id } = await world.stripe('POST', 'refunds', { payment_intent: paymentId })
    const pending = { processor_refund: id, status: 'pending' }
    await deliveries.expect('payment.refund_pending', pending)
    await world.simulate(`refunds/${id}/end`, { status: 'failed' })
    const failed = { processor_refund: id, failure_reason: expect.any(String) as string }
    await deliveries.expect('payment.refund_failed', failed)
  })

  test('is disputed until the dispute is closed', async () => {
    const { paymentId } = await world.createHolder(planRef)
    const charge = await world.chargeOf(paymentId)
    const { id } = await world.simulate(`charges/${charge}/dispute`)
    const dispute = { processor_dispute: id, processor_charge: charge, amount: 1900 }
    await deliveries.expect('payment.disputed', { ...dispute, status: 'needs_response' })
    await world.simulate(`disputes/${String(id)}/close`, { ending: 'won' })
    await deliveries.expect('payment.dispute_closed', { ...dispute, status: 'won' })
  })

  test('is paid out, and returned by the bank', async () => {
    await world.stripe('POST', 'payment_intents', {
      amount: '500000',
      currency: 'usd',
      payment_method: 'pm_card_bypassPending',
      return_url: 'https://shop.example/back',
      confirm: 'true',
    })
    const request = { amount: '1000', currency: 'usd' }
    const { id } = await world.stripe('POST', 'payouts', request)
    await world.simulate(`payouts/${id}/move`, { status: 'paid' })
    const payout = { processor_payout: id, amount: 1000, currency: 'usd' }
    await deliveries.expect('payout.paid', { ...payout, status: 'paid' })
    await world.simulate(`payouts/${id}/move`, { status: 'failed' })
    await deliveries.expect('payout.failed', { ...payout, status: 'failed' })
  })

  test('emits an event for a payout of a balance whose refund fails', async () => {
    const customer = await world.createCustomer()
    const of = { purpose: 'product', productRef: world.productRef, planRef, currency: 'USD' }
    await world.pay(customer, of)
    const { invoices } = await world.call<{ invoices: { reference: string }[] }>(
      'GET',
      `/v1/ui/invoices?customerRef=${customer}`,
    )
    const note = { reason: 'An outage', amount: 500 }
    await world.call('POST', `/v1/ui/invoices/${invoices[0]!.reference}/credit-notes`, note)
    const payOut = { reason: 'An outage', currency: 'USD', to: 'card' }
    const path = `/v1/ui/customers/${customer}/invoice-balance/payouts`
    const { reference, refunds } = await world.call<BalancePayoutBody>('POST', path, payOut)
    const { processorRefund } = refunds[0]!
    await world.simulate(`refunds/${processorRefund}/end`, { status: 'failed' })
    const failed = { customer, payout: reference, amount: 500, currency: 'usd' }
    await deliveries.expect('customer.balance.payout_failed', failed)
  })
})

/** A customer whose credits expire in the middle of February. */
let expiringRef: string

describe('credits', () => {
  let customerRef: string
  const balance = (credits: number, amount: number) => ({
    customerId: customerRef,
    credits,
    amount,
  })

  beforeAll(async () => {
    customerRef = await world.createCustomer()
  })

  test('are granted and adjusted', async () => {
    const granted = { credits: 5_000, reason: 'welcome' }
    await world.call('POST', `/v1/sdk/customers/${customerRef}/credits`, granted)
    await deliveries.expect('customer.credit.granted', balance(5_000, 5_000))
    const path = `/v1/ui/customers/${customerRef}/credits/adjustments`
    await world.call('POST', path, { amount: -1_000, reason: 'too many' })
    await deliveries.expect('customer.credit.adjusted', balance(4_000, -1_000))
  })

  test('are granted until a time', async () => {
    expiringRef = await world.createCustomer()
    const granted = { credits: 300, expiresAt: '2026-02-18T00:00:00Z' }
    await world.call('POST', `/v1/sdk/customers/${expiringRef}/credits`, granted)
    await deliveries.expect('customer.credit.granted', { customerId: expiringRef, credits: 300 })
  })

  test('are bought', async () => {
    const buyer = await world.createCustomer()
    await world.pay(buyer, { purpose: 'credit_topup', amount: 1_000, currency: 'USD' })
    const bought = { customerId: buyer, credits: 100_000, amount: 100_000 }
    await deliveries.expect('customer.credit.topped_up', bought)
  })

  test('are used up', async () => {
    const priced = { type: 'usage-based', billingModel: 'pre-paid', creditsPerUnit: 100 }
    await world.activate(customerRef, await world.createPlan(priced))
    const alert = { watches: 'wallet', customerRef, thresholds: [{ credits: 1_000 }] }
    await world.call('POST', '/v1/ui/alerts', alert)
    const { productRef } = world
    const used = { customerRef, productRef, idempotencyKey: 'searched', units: 35 }
    const { reference } = await world.client.recordUsage(used)
    // The repeated record is a duplicate, for which no event is emitted.
    await world.client.recordUsage(used)
    const purchase = await world.purchaseOf(customerRef)
    const recorded = await deliveries.expect('usage.recorded', { reference })
    expect(recorded).toMatchObject({
      data: {
        object: {
          customer: customerRef,
          product: productRef,
          purchase: purchase.reference,
          quantity: 35,
          meterName: 'requests',
          recordedAt: Date.parse(opensAt) / 1000,
        },
        previous_attributes: null,
      },
      request: { id: null, idempotency_key: 'searched' },
    })
    await deliveries.expect('customer.credit.debited', balance(500, -3_500))
    await deliveries.expect('customer.credit.low_balance', balance(500, -3_500))
    const wallet = { watches: 'wallet', customer: customerRef, unit: 'credits' }
    await deliveries.expect('usage.threshold_reached', { ...wallet, threshold: 1_000, value: 500 })
    await world.client.recordUsage({ customerRef, productRef, units: 5 })
    await deliveries.expect('customer.credit.exhausted', balance(0, -500))
    await deliveries.expect('usage.limit_reached', { ...wallet, value: 0 })
  })

  test('are not topped up with a declined card', async () => {
    const payer = await world.createCustomer()
    const topUp = { purpose: 'credit_topup', amount: 1_000, currency: 'USD' }
    await world.pay(payer, { ...topUp, autoRecharge: topUpTerms })
    await world.makeCardDecline(payer)
    const path = `/v1/ui/customers/${payer}/credits/adjustments`
    await world.call('POST', path, { amount: -60_000, reason: 'used' })
    await deliveries.expect('customer.credit.auto_topup_failed', { customerRef: payer })
  })
})

describe('scheduled changes', () => {
  test('emits events for a completed and an abandoned checkout', async () => {
    const free = await world.createPlan({ ...monthly, price: 0 })
    const customerRef = await world.createCustomer()
    await world.checkOut(customerRef, 'activate', free)
    const session = { customer: customerRef, product: world.productRef }
    await deliveries.expect('checkout_session.completed', { ...session, status: 'used' })
    const visitor = await world.createCustomer()
    const request = { customerRef: visitor, productRef: world.productRef, planRef }
    const { checkoutUrl } = await world.call<{ checkoutUrl: string }>(
      'POST',
      '/v1/sdk/checkout-sessions',
      request,
    )
    const opened = { customer: visitor, url: checkoutUrl, amount: 1900, plan: planRef }
    await deliveries.expect('checkout_session.created', { ...opened, status: 'active' })
    await world.runJob('abandoned-checkouts', '2026-01-31T13:00:00Z')
    await deliveries.expect('checkout_session.expired', { ...opened, status: 'expired' })
  })

  test('emits events when trials end: paid, free or unpaid', async () => {
    const paid = await world.createPlan({ ...monthly, price: 1900, trialDays: 14 })
    const free = { ...monthly, type: 'hybrid', basePrice: 0, creditsPerUnit: 100, trialDays: 14 }
    const byUse = await world.createPlan(free)
    const payer = await world.createCustomer()
    const autoRecharge = { enabled: false, triggerType: 'balance', currency: 'USD' }
    await world.pay(payer, {
      purpose: 'credit_topup',
      amount: 1_000,
      currency: 'USD',
      autoRecharge,
    })
    const others = [await world.createCustomer(), await world.createCustomer()] as const
    await world.checkOut(payer, 'trial', paid)
    await world.checkOut(others[0], 'trial', byUse)
    await world.checkOut(others[1], 'trial', paid)
    const trialEndsAt = Date.parse('2026-02-14T13:00:00Z') / 1000
    await world.runJob('reminders', '2026-02-12T13:00:00Z')
    const trial = { customer: payer, status: 'trialing', trialEndsAt }
    await deliveries.expect('purchase.trial_ending', trial)
    await world.runJob('trial-expiry', '2026-02-14T13:00:00Z')
    await deliveries.expect('purchase.trial_converted', { customer: payer, status: 'active' })
    await deliveries.expect('purchase.updated', { customer: others[0], status: 'active' })
    await deliveries.expect('purchase.suspended', { customer: others[1], status: 'suspended' })
  })

  test('emits an event before credits expire', async () => {
    const expiresAt = Date.parse('2026-02-18T00:00:00Z') / 1000
    const expiring = { customerId: expiringRef, credits: 300, expiresAt }
    await deliveries.expect('customer.credit.expiring', expiring)
  })

  test('emits events when periods end: renewed, billed, cancelled or unpaid', async () => {
    const at = '2026-02-14T13:00:00Z'
    const renewing = await world.createHolder(planRef)
    const failing = await world.createHolder(planRef)
    const leaving = await world.createHolder(planRef)
    const postPaid = { type: 'usage-based', billingModel: 'post-paid', creditsPerUnit: 100 }
    const customerRef = await world.createCustomer()
    await world.activate(customerRef, await world.createPlan({ ...postPaid, ...monthly }))
    const metered = await world.purchaseOf(customerRef)
    const { productRef } = world
    await world.client.recordUsage({ customerRef, productRef, units: 250 })
    await world.call('POST', `/v1/sdk/purchases/${leaving.purchase.reference}/cancel`, {})
    await world.makeCardDecline(failing.customerRef)

    await world.runJob('reminders', '2026-03-12T13:00:00Z')
    const [periodStart, periodEnd] = [at, '2026-03-14T13:00:00Z'].map(
      (instant) => Date.parse(instant) / 1000,
    )
    const renewal = { id: renewing.purchase.reference, nextBillingAt: periodEnd }
    await deliveries.expect('purchase.renewal_reminder', renewal)
    const later = '2026-03-14T14:30:00Z'
    await world.runJob('renewals', later)
    await deliveries.expect('purchase.renewed', { id: renewing.purchase.reference, amount: 1900 })
    const { data } = await deliveries.expect('purchase.past_due', {
      id: failing.purchase.reference,
      status: 'past_due',
      retryCount: 1,
      nextRetryAt: expect.any(Number) as number,
    })
    expect(data.previous_attributes).toEqual({ status: 'active' })
    await world.runJob('ended-purchases', later)
    await deliveries.expect('purchase.cancelled', {
      id: leaving.purchase.reference,
      status: 'cancelled',
    })
    await world.runJob('usage-reset', later)
    await deliveries.expect('usage.reset', {
      purchase: metered.reference,
      periodStart: periodEnd,
      carriedOverUnits: 0,
    })
    await world.runJob('usage-billing', later)
    await deliveries.expect('usage.charged', {
      purchase: metered.reference,
      quantity: 250,
      amount: 250,
      currency: 'usd',
      periodStart,
      periodEnd,
    })
  })
})

test('marks live events, and sends none of them to sandbox endpoints', async () => {
  const { reference } = await world.live.createProduct({ name: 'Search' })
  const { body } = await world.live.send('GET', '/v1/ui/events')
  expect(body).toMatchObject({ events: [{ type: 'product.created', livemode: true }] })
  const { productRef } = world
  await world.call('PUT', `/v1/sdk/products/${productRef}`, { name: 'Search everything' })
  await deliveries.expect('product.updated', { id: productRef })
  const emittedEvents = deliveries.events().map(({ data }) => data.object['id'])
  expect(emittedEvents).not.toContain(reference)
})

test('has delivered every event type, each event once', async () => {
  const events = deliveries.events()
  const types = new Set(events.map(({ type }) => type))
  expect([...types].toSorted()).toEqual(eventTypes.toSorted())
  const { received, faults } = deliveries.receiver
  expect(faults).toEqual([])
  expect(new Set(received.map(({ deliveryId }) => deliveryId)).size).toBe(received.length)
  expect(new Set(events.map(({ id }) => id)).size).toBe(events.length)
  expect(received.filter(({ attempt }) => attempt !== 1)).toEqual([])
})
