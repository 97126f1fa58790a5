import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import type { ChargeOutcome } from '@tollgate/domain/charging/charge-invoice'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import { eventually } from './payment-stack.ts'
import { RenewalStack } from './renewal-stack.ts'

/* Renewals that the billing runner charges to saved cards, with the simulator of Stripe. */

const stack = await RenewalStack.start({ hasWebhooks: true })
const planRef = await stack.payments.createPlan({ price: 1900, billingCycle: 'monthly' })
afterAll(() => stack.stop())
beforeEach(() => {
  stack.payments.stack.clock.set('2026-01-31T12:00:00Z')
  return () => stack.endAll()
})

const renewalAt = '2026-03-01T10:00:00Z'

/** Makes the runner issue the invoice without charging it. */
const withoutCharge = async (): Promise<ChargeOutcome> => ({ kind: 'pending' })

async function emittedEvents(purchase: Purchase): Promise<string[]> {
  const types = await stack.payments.eventsOf(purchase.customerRef)
  const from = types.indexOf('purchase.activated')
  return types.slice(from + 1)
}

describe('a renewal', () => {
  let purchase: Purchase

  beforeEach(async () => {
    purchase = await stack.buy(planRef)
  })

  test('is charged once to the card that paid for the plan', async () => {
    await stack.runJob('renewals', renewalAt)
    await stack.runJob('renewals', renewalAt)
    await stack.runJob('payment-retries', '2026-03-01T11:00:00Z')
    expect(await stack.purchase(purchase.reference)).toMatchObject({
      status: 'active',
      nextBillingDate: new Date('2026-03-31T12:00:00Z'),
    })
    expect(await stack.invoicesOf(purchase.reference)).toMatchObject([
      { status: 'paid', totalMinor: 1_900n, paidMinor: 1_900n, nextChargeAt: null },
    ])
    expect(await stack.succeededChargesOf(purchase.reference)).toBe(1)
    expect(await emittedEvents(purchase)).toEqual(['payment.succeeded', 'purchase.renewed'])
  })

  test("includes the tax once the customer's country is known", async () => {
    const { payments } = stack
    const merchant = { country: 'SE', vatNumber: 'SE556012579001' }
    expect((await payments.call('PATCH', '/v1/ui/merchant', merchant)).status).toBe(200)
    const { customerRef, reference } = purchase
    const topUp = { customerRef, purpose: 'credit_topup', amount: 1000, currency: 'USD' }
    const { body: open } = await payments.createIntent('says-where', topUp)
    const path = `/v1/sdk/payment-intents/${open.processorPaymentId}/business-details`
    await payments.call('POST', path, { isBusiness: false, customerCountry: 'SE' })
    await stack.runJob('renewals', renewalAt)
    expect(await stack.invoicesOf(reference)).toMatchObject([
      { status: 'paid', totalMinor: 2_375n, paidMinor: 2_375n },
    ])
    expect(await stack.succeededChargesOf(reference)).toBe(1)
    expect(await stack.purchase(reference)).toMatchObject({ amountMinor: 1_900 })
  })

  test('has an invoice while its currency has no exchange rate, and is charged once it has one', async () => {
    const { payments } = stack
    const rate = '/v1/ui/exchange-rates/RON'
    const isWorth = () => payments.call('PUT', rate, { unitsPerDollar: '4.5' })
    expect((await isWorth()).status).toBe(200)
    const lei = { currency: 'RON', price: 9000 }
    const usd = { currency: 'USD', price: 1900, default: true }
    const terms = { billingCycle: 'monthly', price: 1900, pricingOptions: [usd, lei] }
    const { reference } = await stack.buy(await payments.createPlan(terms), 'pm_card_visa', 'RON')
    await payments.call('DELETE', rate)
    const once = { TOLLGATE_BILLING_TRIES_MAX: '1' }
    const totals = await stack.runJob('renewals', renewalAt, once)
    expect(totals.get('failed')).toBe(1)
    expect(await stack.invoicesOf(reference)).toMatchObject([
      { status: 'open', totalMinor: 9_000n },
    ])
    expect(await stack.paymentsOf(reference)).toEqual([])
    await isWorth()
    await stack.runJob('renewals', '2026-03-01T11:00:00Z')
    expect(await stack.invoicesOf(reference)).toMatchObject([{ status: 'paid' }])
    expect(await stack.succeededChargesOf(reference)).toBe(1)
  })

  test('is retried on schedule after a decline, then suspends the purchase, and a new card pays it', async () => {
    await stack.replaceCard(purchase.customerRef, 'pm_card_chargeCustomerFail')
    await stack.runJob('renewals', renewalAt)
    expect(await stack.purchase(purchase.reference)).toMatchObject({
      status: 'past_due',
      retryCount: 1,
      nextRetryAt: new Date('2026-03-01T15:00:00Z'),
    })
    for (const at of ['2026-03-01T15:00:00Z', '2026-03-02T15:00:00Z', '2026-03-05T15:00:00Z']) {
      await stack.runJob('payment-retries', at)
      await stack.runJob('payment-retries', at)
    }
    expect(await stack.purchase(purchase.reference)).toMatchObject({ status: 'suspended' })
    expect(await emittedEvents(purchase)).toEqual([
      'payment.failed',
      'purchase.past_due',
      'payment.failed',
      'payment.failed',
      'payment.failed',
      'purchase.suspended',
    ])

    await stack.payWith(purchase.customerRef, 'pm_card_mastercard')
    await stack.runJob('payment-retries', '2026-03-06T09:00:00Z')
    expect(await stack.purchase(purchase.reference)).toMatchObject({
      status: 'active',
      retryCount: 0,
      nextRetryAt: null,
      nextBillingDate: new Date('2026-03-31T12:00:00Z'),
    })
    expect(await stack.invoicesOf(purchase.reference)).toMatchObject([{ status: 'paid' }])
    expect(await stack.succeededChargesOf(purchase.reference)).toBe(1)
    expect((await emittedEvents(purchase)).slice(-2)).toEqual([
      'payment.succeeded',
      'purchase.activated',
    ])
  })

  test('is charged to a new card as soon as it is saved if the old card needs the customer', async () => {
    await stack.replaceCard(purchase.customerRef, 'pm_card_authenticationRequired')
    await stack.runJob('renewals', renewalAt)
    for (const at of ['2026-03-01T15:00:00Z', '2026-03-02T15:00:00Z', '2026-03-05T15:00:00Z']) {
      await stack.runJob('payment-retries', at)
      await stack.runJob('payment-retries', at)
    }
    expect(await stack.purchase(purchase.reference)).toMatchObject({ status: 'suspended' })
    expect(
      (await emittedEvents(purchase)).filter((type) => type === 'payment.failed'),
    ).toHaveLength(1)
    const [before] = await stack.invoicesOf(purchase.reference)
    expect(before).toMatchObject({ status: 'open', failedCharges: 4 })
    await stack.payWith(purchase.customerRef, 'pm_card_mastercard')
    await stack.runJob('payment-retries', '2026-03-06T09:00:00Z')
    expect(await stack.purchase(purchase.reference)).toMatchObject({ status: 'active' })
    expect(await stack.invoicesOf(purchase.reference)).toMatchObject([{ status: 'paid' }])
    expect(await stack.succeededChargesOf(purchase.reference)).toBe(1)
  })

  test('counts a failure once if the process died before it stored it', async () => {
    await stack.replaceCard(purchase.customerRef, 'pm_card_chargeCustomerFail')
    await stack.runJob('renewals', renewalAt, {}, async (charge) => {
      await charge()
      throw new Error('died')
    })
    expect(await stack.purchase(purchase.reference)).toMatchObject({ status: 'active' })
    await stack.runJob('payment-retries', '2026-03-01T10:10:00Z')
    expect(await stack.purchase(purchase.reference)).toMatchObject({
      status: 'past_due',
      retryCount: 1,
    })
    expect(await emittedEvents(purchase)).toEqual(['payment.failed', 'purchase.past_due'])
  })

  test('reads an unknown outcome from the processor, and is charged once', async () => {
    await stack.payments.simulate('faults', {
      kind: 'reset_after',
      method: 'POST',
      path: '/v1/payment_intents',
      // The SDK repeats a request by itself if its connection is closed.
      times: 2,
    })
    await stack.runJob('renewals', renewalAt)
    expect(await stack.purchase(purchase.reference)).toMatchObject({ status: 'active' })
    await stack.runJob('payment-retries', '2026-03-01T10:10:00Z')
    expect(await stack.succeededChargesOf(purchase.reference)).toBe(1)
    expect(await emittedEvents(purchase)).toEqual(['payment.succeeded', 'purchase.renewed'])
  })

  test('is not retried after a permanent decline of the card', async () => {
    await stack.useCard(purchase.customerRef, 'pm_card_visa_chargeDeclinedStolenCard')
    await stack.runJob('renewals', renewalAt)
    expect(await emittedEvents(purchase)).toEqual([
      'payment.failed',
      'purchase.past_due',
      'purchase.suspended',
    ])
  })

  test('is past due without a card, and suspends the purchase in the end', async () => {
    await stack.sql`delete from customer_cards where customer_ref = ${purchase.customerRef}`
    await stack.runJob('renewals', renewalAt)
    for (const at of ['2026-03-01T15:00:00Z', '2026-03-02T15:00:00Z', '2026-03-05T15:00:00Z']) {
      await stack.runJob('payment-retries', at)
    }
    expect(await emittedEvents(purchase)).toEqual(['purchase.past_due', 'purchase.suspended'])
    expect(await stack.paymentsOf(purchase.reference)).toEqual([])
  })

  test('is not retried if the bank needs the customer, and is paid when they return', async () => {
    await stack.replaceCard(purchase.customerRef, 'pm_card_authenticationRequired')
    await stack.runJob('renewals', renewalAt)
    await stack.runJob('payment-retries', '2026-03-01T15:00:00Z')
    expect(await stack.purchase(purchase.reference)).toMatchObject({
      status: 'past_due',
      retryCount: 2,
    })
    expect(await emittedEvents(purchase)).toEqual(['payment.failed', 'purchase.past_due'])

    const [paymentId] = await stack.paymentsOf(purchase.reference)
    await stack.payments.confirm(paymentId!, 'pm_card_authenticationRequired')
    await stack.payments.simulate(`payment_intents/${paymentId}/authenticate`, { isAccepted: true })
    await stack.payments.process(paymentId!, purchase.customerRef)
    expect(await stack.purchase(purchase.reference)).toMatchObject({
      status: 'active',
      retryCount: 0,
      nextRetryAt: null,
    })
    expect(await stack.succeededChargesOf(purchase.reference)).toBe(1)
  })

  test('begins when a payment that was processing succeeds', async () => {
    await stack.replaceCard(purchase.customerRef, 'pm_card_simulator_processing')
    await stack.runJob('renewals', renewalAt)
    await stack.runJob('payment-retries', '2026-03-01T10:10:00Z')
    expect(await emittedEvents(purchase)).toEqual([])
    const [paymentId] = await stack.paymentsOf(purchase.reference)
    await stack.payments.simulate(`payment_intents/${paymentId}/settle`, { isPaid: true })
    await stack.runJob('payment-retries', '2026-03-01T10:20:00Z')
    expect(await emittedEvents(purchase)).toEqual(['payment.succeeded', 'purchase.renewed'])
  })

  test('keeps the card that the customer saved while the payment was processing', async () => {
    const { customerRef, reference } = purchase
    await stack.replaceCard(customerRef, 'pm_card_simulator_processing')
    await stack.runJob('renewals', renewalAt)
    await stack.replaceCard(customerRef, 'pm_card_mastercard')
    const savedCards = () => stack.sql<{ payment_method_id: string }[]>`
      select payment_method_id from customer_cards where customer_ref = ${customerRef}`
    const saved = await savedCards()
    const [paymentId] = await stack.paymentsOf(reference)
    await stack.payments.simulate(`payment_intents/${paymentId}/settle`, { isPaid: true })
    await eventually(async () =>
      expect(await stack.invoicesOf(reference)).toMatchObject([{ status: 'paid' }]),
    )
    expect(await savedCards()).toEqual(saved)
  })

  test('moves an amount that is too small to charge to the next invoice, and begins the period', async () => {
    await stack.runJob('renewals', renewalAt, {}, withoutCharge)
    await stack.credit(purchase.reference, 1_880n)
    await stack.runJob('payment-retries', '2026-03-01T10:10:00Z')
    expect(await stack.invoicesOf(purchase.reference)).toMatchObject([
      { status: 'paid', totalMinor: 1_900n, creditedMinor: 1_880n, carriedMinor: 20n },
    ])
    expect(await emittedEvents(purchase)).toEqual(['purchase.renewed'])
  })

  test('is charged with a new payment if a credit note reduced the due amount', async () => {
    await stack.replaceCard(purchase.customerRef, 'pm_card_chargeCustomerFail')
    await stack.runJob('renewals', renewalAt)
    await stack.credit(purchase.reference, 900n)
    await stack.replaceCard(purchase.customerRef, 'pm_card_visa')
    await stack.runJob('payment-retries', '2026-03-01T15:00:00Z')
    await stack.runJob('payment-retries', '2026-03-01T15:05:00Z')
    expect(await stack.invoicesOf(purchase.reference)).toMatchObject([
      { status: 'paid', creditedMinor: 900n, paidMinor: 1_000n },
    ])
    expect(await stack.paymentsOf(purchase.reference)).toHaveLength(2)
    expect(await stack.succeededChargesOf(purchase.reference)).toBe(1)
  })
})

describe('a renewal that was paid and refunded', () => {
  let purchase: Purchase
  let paymentId: string

  beforeEach(async () => {
    purchase = await stack.buy(planRef)
    await stack.runJob('renewals', renewalAt)
    ;[paymentId = ''] = await stack.paymentsOf(purchase.reference)
  })

  const refund = (amount: number) =>
    stack.payments.stripe('POST', 'refunds', {
      payment_intent: paymentId,
      amount: String(amount),
    })

  test('keeps access after a partial refund', async () => {
    await refund(900)
    await eventually(async () =>
      expect(await stack.invoicesOf(purchase.reference)).toMatchObject([
        { status: 'partly_refunded', refundedMinor: 900n },
      ]),
    )
    expect((await stack.purchase(purchase.reference)).status).toBe('active')
  })

  test('ends the purchase after a full refund', async () => {
    await refund(900)
    await refund(1000)
    await eventually(async () =>
      expect(await stack.invoicesOf(purchase.reference)).toMatchObject([
        { status: 'refunded', refundedMinor: 1_900n },
      ]),
    )
    expect(await stack.purchase(purchase.reference)).toMatchObject({
      status: 'refunded',
      nextBillingDate: null,
    })
    expect(
      (await emittedEvents(purchase)).filter((type) => type === 'purchase.refunded'),
    ).toHaveLength(1)
  })

  test('keeps access when earlier payments are refunded, and ends with its own', async () => {
    await stack.runJob('renewals', '2026-03-31T13:00:00Z')
    const [first] = await stack.sql<{ processor_payment_id: string }[]>`
      select processor_payment_id from payment_intents
      where purchase_ref = ${purchase.reference} and purpose = 'product'`
    const [, second = ''] = await stack.paymentsOf(purchase.reference)
    for (const paid of [first!.processor_payment_id, paymentId]) {
      const { body } = await stack.payments.stripe('POST', 'refunds', { payment_intent: paid })
      await eventually(async () =>
        expect(await stack.payments.eventsOf(body.id)).toEqual(['payment.refunded']),
      )
      expect(await stack.purchase(purchase.reference)).toMatchObject({
        status: 'active',
        nextBillingDate: new Date('2026-04-30T12:00:00Z'),
      })
    }
    await stack.payments.stripe('POST', 'refunds', { payment_intent: second })
    await eventually(async () =>
      expect((await stack.purchase(purchase.reference)).status).toBe('refunded'),
    )
  })
})

test('charges the saved card when a trial ends, and records the price', async () => {
  const terms = { price: 1900, setupFee: 500, billingCycle: 'monthly', trialDays: 14 }
  const trialRef = await stack.payments.createPlan(terms)
  const purchase = await stack.buy(trialRef)
  await stack.asTrial(purchase.reference, '2026-02-14T12:00:00Z')
  await stack.runJob('trial-expiry', '2026-02-15T08:00:00Z')
  expect(await stack.purchase(purchase.reference)).toMatchObject({
    status: 'active',
    amountMinor: 2_400,
    originalAmountMinor: 2_400,
    exchangeRate: '1.0000000000',
  })
  expect(await stack.succeededChargesOf(purchase.reference)).toBe(1)
  expect(await emittedEvents(purchase)).toEqual(['payment.succeeded', 'purchase.trial_converted'])
})
