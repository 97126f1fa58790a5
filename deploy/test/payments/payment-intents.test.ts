import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import type { LimitsResponse } from '@tollgate/schemas/http/limits'
import type { PaymentMethodBody } from '@tollgate/schemas/http/auto-recharge'
import type {
  PaymentIntentBody,
  ProcessedPaymentBody,
} from '@tollgate/schemas/http/payment-intents'
import { openCheckout } from './open-checkout.ts'
import { PaymentStack } from './payment-stack.ts'

/* Payments over HTTP with the simulator of Stripe and without webhooks: the service must read the results itself. */

let customerRef: string
let sequence = 0

const payments = await PaymentStack.start()
afterAll(() => payments.stop())
beforeEach(async () => {
  customerRef = await payments.createCustomer()
})

function key(): string {
  sequence += 1
  return `order-${sequence}`
}

async function planIntent(planRef: string, more: object = {}): Promise<PaymentIntentBody> {
  const request = { customerRef, productRef: payments.productRef, planRef, ...more }
  const { status, body } = await payments.createIntent(key(), request)
  expect([status, body]).toEqual([201, body])
  return body
}

const purchases = () => payments.purchasesOf(customerRef)

/** Begins a payment on the checkout of a key with only the scope `ingest`. */
async function boundPayment(planRef: string): Promise<PaymentIntentBody> {
  const made = await payments.call<{ secretKey: string }>('POST', '/v1/ui/api-keys', {
    scopes: ['ingest'],
  })
  const { productRef } = payments
  const asking = { customerRef, productRef, includeCheckoutSession: true }
  const { body } = await payments.stack.call<LimitsResponse>(
    made.body.secretKey,
    'POST',
    '/v1/sdk/limits',
    asking,
  )
  const take = await openCheckout(payments.stack, body.checkoutSessionId!)
  const at = await take('pay', planRef)
  const reference = /\/pay\/([^/?]+)$/.exec(at)?.[1]
  expect(reference).toBeDefined()
  const path = `/v1/sdk/payment-intents/${reference}`
  return (await payments.call<PaymentIntentBody>('GET', path)).body
}

async function startTrial({ planRef, ...asked }: Record<string, string>): Promise<void> {
  const path = '/v1/sdk/checkout-sessions'
  const { body } = await payments.call<{ sessionId: string }>('POST', path, { ...asked, planRef })
  await (
    await openCheckout(payments.stack, body.sessionId)
  )('trial', planRef!)
}

describe('a plan', () => {
  test('becomes active when it is paid', async () => {
    const planRef = await payments.createPlan({ price: 1900, setupFee: 500 })
    const intent = await planIntent(planRef)
    expect(intent).toEqual({
      processorPaymentId: expect.stringMatching(/^pi_/) as string,
      planRef,
      customerRef,
      amount: 2400,
      originalAmount: 2400,
      currency: 'usd',
      exchangeRate: 1,
      status: 'requires_payment_method',
      clientSecret: expect.stringMatching(/^pi_.*_secret_/) as string,
      publishableKey: 'pk_test_payments',
      transactionId: expect.stringMatching(/^txn_/) as string,
      expiresAt: expect.any(String) as string,
      createdAt: expect.any(String) as string,
    })
    const { processorPaymentId } = intent
    expect(Date.parse(intent.expiresAt!) - Date.parse(intent.createdAt!)).toBe(86_400_000)

    const early = await payments.process(processorPaymentId, customerRef)
    expect([early.status, early.body.message]).toEqual([
      400,
      'Payment not succeeded. Status: requires_payment_method',
    ])
    await payments.confirm(processorPaymentId)
    const { body } = await payments.process<ProcessedPaymentBody>(processorPaymentId, customerRef)
    expect(body).toMatchObject({
      status: 'succeeded',
      type: 'recurring',
      purchase: {
        status: 'active',
        origin: 'paid',
        planRef,
        amount: 2400,
        originalAmount: 2400,
        exchangeRate: 1,
        currency: 'USD',
        paidAt: expect.any(String) as string,
        nextBillingDate: expect.any(String) as string,
      },
    })
    expect(await payments.eventsOf(customerRef)).toEqual([
      'customer.created',
      'payment.succeeded',
      'purchase.created',
      'purchase.activated',
    ])
    const card = await payments.call<PaymentMethodBody>(
      'GET',
      `/v1/sdk/payment-method?customerRef=${customerRef}`,
    )
    expect(card.body).toMatchObject({ kind: 'card', brand: 'visa', last4: '4242', reusable: true })
    const found = await payments.call<PaymentIntentBody>(
      'GET',
      `/v1/sdk/payment-intents/${intent.transactionId}`,
    )
    expect(found.body).toEqual({ ...intent, status: 'succeeded' })
  })

  test('cannot be processed for another customer or purpose', async () => {
    const planRef = await payments.createPlan({ price: 1900 })
    const other = await payments.createCustomer()
    const { processorPaymentId } = await planIntent(planRef)
    await payments.confirm(processorPaymentId)
    const path = `/v1/sdk/payment-intents/${processorPaymentId}/process`
    const { productRef } = payments
    const statusWith = async (body: object): Promise<number> =>
      (await payments.call('POST', path, body)).status
    expect(await statusWith({ customerRef: other, productRef, planRef })).toBe(400)
    expect(await statusWith({ customerRef, productRef: 'prd_OTHER', planRef })).toBe(400)
    expect(await statusWith({ customerRef, productRef, planRef: 'pln_OTHER' })).toBe(400)
    expect(await statusWith({ customerRef, productRef, planRef })).toBe(200)
    expect(await statusWith({ customerRef })).toBe(200)
  })

  test('is not sold again while it is active', async () => {
    const planRef = await payments.createPlan({ price: 1900 })
    const { processorPaymentId } = await planIntent(planRef)
    await payments.confirm(processorPaymentId)
    await payments.process(processorPaymentId, customerRef)
    const request = { customerRef, productRef: payments.productRef, planRef }
    const again = await payments.createIntent(key(), request)
    expect(again.status).toBe(400)
    expect(again.body.message).toContain('already')
  })

  test('replaces another plan of the product', async () => {
    const first = await payments.createPlan({ price: 0 })
    const second = await payments.createPlan({ price: 900 })
    const body = { customerRef, productRef: payments.productRef, planRef: first }
    await payments.call('POST', '/v1/sdk/activate', body)
    const { processorPaymentId } = await planIntent(second)
    await payments.confirm(processorPaymentId)
    await payments.process(processorPaymentId, customerRef)
    const held = await purchases()
    expect(
      held.map(({ status, planSnapshot }) => [planSnapshot?.reference, status]).sort(),
    ).toEqual(
      [
        [first, 'expired'],
        [second, 'active'],
      ].sort(),
    )
    expect(await payments.eventsOf(customerRef)).toEqual(
      expect.arrayContaining(['purchase.expired', 'purchase.plan_changed']),
    )
  })

  test('does not end a purchase that began after a payment on a bound checkout', async () => {
    const held = await payments.createPlan({ price: 900, billingCycle: 'monthly', trialDays: 7 })
    const planRef = await payments.createPlan({ price: 100 })
    const { processorPaymentId } = await boundPayment(planRef)
    const body = { customerRef, productRef: payments.productRef, planRef: held }
    await startTrial(body)
    await payments.confirm(processorPaymentId)
    const ended = await payments.process<ProcessedPaymentBody>(processorPaymentId, customerRef)
    expect(ended.body.status).toBe('failed')
    expect(
      (await purchases()).map(({ status, planSnapshot }) => [status, planSnapshot?.reference]),
    ).toEqual([['trialing', held]])
  })

  test('costs the price of the chosen currency', async () => {
    const planRef = await payments.createPlan({
      price: 1000,
      currency: 'USD',
      pricingOptions: [
        { currency: 'USD', price: 1000, default: true },
        { currency: 'EUR', price: 920 },
      ],
    })
    const intent = await planIntent(planRef, { currency: 'eur' })
    expect(intent).toMatchObject({
      amount: 1000,
      originalAmount: 920,
      currency: 'eur',
      exchangeRate: 1.0869565217,
    })
    const request = { customerRef, productRef: payments.productRef, planRef, currency: 'SEK' }
    const refused = await payments.createIntent(key(), request)
    expect([refused.status, refused.body.message]).toEqual([
      400,
      'Currency SEK is not supported. Available: USD, EUR',
    ])
  })

  test('describes what was bought if it is a one-time plan', async () => {
    const planRef = await payments.createPlan({ type: 'one-time', price: 700 })
    const { processorPaymentId } = await planIntent(planRef)
    await payments.confirm(processorPaymentId)
    const { body } = await payments.process<ProcessedPaymentBody>(processorPaymentId, customerRef)
    expect(body).toMatchObject({
      status: 'succeeded',
      type: 'one-time',
      oneTimePurchase: { productRef: payments.productRef, amount: 700, currency: 'USD' },
      purchase: { planSnapshot: { planType: 'one-time' } },
    })
  })

  test('charges the smallest amount that buys whole units if it is paid by credits', async () => {
    const planRef = await payments.createPlan({ type: 'usage-based', creditsPerUnit: 700 })
    const intent = await planIntent(planRef)
    // 50 cents are 5,000 credits. 8 units of 700 credits are the first whole units above that.
    expect(intent.amount).toBe(56)
    await payments.confirm(intent.processorPaymentId)
    await payments.process(intent.processorPaymentId, customerRef)
    expect(await payments.balanceOf(customerRef)).toBe(5600)
    expect((await purchases()).map(({ status }) => status)).toEqual(['active'])
  })
})

describe('credits', () => {
  const topUp = { purpose: 'credit_topup', amount: 2000, currency: 'usd' }

  test('are bought once, however many processes apply the payment', async () => {
    const { body } = await payments.createIntent(key(), { customerRef, ...topUp })
    await payments.confirm(body.processorPaymentId)
    const answers = await Promise.all(
      Array.from({ length: 100 }, () =>
        payments.process<ProcessedPaymentBody>(body.processorPaymentId, customerRef),
      ),
    )
    expect(new Set(answers.map((answer) => JSON.stringify(answer.body)))).toEqual(
      new Set(['{"status":"succeeded"}']),
    )
    expect(await payments.balanceOf(customerRef)).toBe(200_000)
    expect(await payments.eventsOf(customerRef)).toEqual([
      'customer.created',
      'payment.succeeded',
      'customer.credit.topped_up',
    ])
    const [purchase, ...others] = await purchases()
    expect(others).toEqual([])
    expect(purchase).toMatchObject({
      origin: 'credit_topup',
      metadata: { purpose: 'credit_topup' },
      amount: 2000,
    })
    expect(purchase).not.toHaveProperty('planSnapshot')
    expect(await payments.succeededCharges(body.processorPaymentId)).toBe(1)
  })

  test.each([
    ['no amount', { amount: undefined }, 'amount is required'],
    ['too little', { amount: 99 }, 'Validation failed'],
    ['too much', { amount: 10_000_001 }, 'Validation failed'],
    ['a currency that is not offered', { currency: 'SEK' }, 'Available: USD'],
  ])('%s: 400', async (_, change, message) => {
    const answer = await payments.createIntent(key(), { customerRef, ...topUp, ...change })
    expect(answer.status).toBe(400)
    expect(answer.body.message).toContain(message)
  })
})

describe('an idempotency key', () => {
  test('is required', async () => {
    const answer = await payments.call('POST', '/v1/sdk/payment-intents', { customerRef })
    expect([answer.status, answer.body.message]).toEqual([
      400,
      'idempotency-key header is required',
    ])
  })

  test('returns the same payment for the same request, even concurrently', async () => {
    const request = { customerRef, purpose: 'credit_topup', amount: 500, currency: 'USD' }
    const same = key()
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => payments.createIntent(same, request)),
    )
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201))
    const again = await payments.createIntent(same, request)
    expect(new Set([...answers, again].map(({ body }) => JSON.stringify(body))).size).toBe(1)
    const other = await payments.createIntent(same, { ...request, amount: 501 })
    expect(other.status).toBe(409)
    const list = await payments.stripe('GET', 'payment_intents', { limit: '100' })
    const named = list.body.data!.filter(
      ({ metadata }) => metadata['tollgate_payment'] === again.body.transactionId,
    )
    expect(named).toHaveLength(1)
  })
})

describe('a payment that does not succeed', () => {
  test('reports a decline once per attempt, and can be paid by another card', async () => {
    const planRef = await payments.createPlan({ price: 1900 })
    const { processorPaymentId } = await planIntent(planRef)
    const declined = 'pm_card_visa_chargeDeclinedInsufficientFunds'
    for (let tries = 0; tries < 2; tries++) {
      expect((await payments.confirm(processorPaymentId, declined)).isOk).toBe(false)
      for (let looks = 0; looks < 2; looks++) {
        const { body } = await payments.process(processorPaymentId, customerRef)
        expect(body).toEqual({ status: 'failed' })
      }
    }
    await payments.confirm(processorPaymentId)
    const { body } = await payments.process<ProcessedPaymentBody>(processorPaymentId, customerRef)
    expect(body.status).toBe('succeeded')
    expect((await payments.eventsOf(customerRef)).slice(1, 4)).toEqual([
      'payment.failed',
      'payment.failed',
      'payment.succeeded',
    ])
  })

  test('fails after 3-D Secure is not completed in time', async () => {
    const planRef = await payments.createPlan({ price: 1900 })
    const { processorPaymentId } = await planIntent(planRef)
    await payments.confirm(processorPaymentId, 'pm_card_authenticationRequired')
    const late = await payments.process<ProcessedPaymentBody>(processorPaymentId, customerRef)
    expect(late.body.status).toBe('timeout')
    expect(late.body.message).toContain('webhooks')
    await payments.simulate(`payment_intents/${processorPaymentId}/authenticate`, {
      isAccepted: true,
    })
    const { body } = await payments.process<ProcessedPaymentBody>(processorPaymentId, customerRef)
    expect(body.status).toBe('succeeded')
  })

  test('is processing until the bank answers', async () => {
    const planRef = await payments.createPlan({ price: 1900 })
    const { processorPaymentId } = await planIntent(planRef)
    await payments.confirm(processorPaymentId, 'pm_card_simulator_processing')
    const { body } = await payments.process<ProcessedPaymentBody>(processorPaymentId, customerRef)
    expect(['processing', 'succeeded']).toContain(body.status)
  })

  test('is cancelled after it was withdrawn', async () => {
    const planRef = await payments.createPlan({ price: 1900 })
    const { processorPaymentId } = await planIntent(planRef)
    await payments.stripe('POST', `payment_intents/${processorPaymentId}/cancel`)
    const { body } = await payments.process(processorPaymentId, customerRef)
    expect(body).toEqual({ status: 'cancelled' })
    expect(await payments.eventsOf(customerRef)).toEqual(['customer.created', 'payment.canceled'])
  })

  test('answers 404 if it does not exist', async () => {
    const answer = await payments.call('GET', '/v1/sdk/payment-intents/pi_nobody')
    expect([answer.status, answer.body]).toMatchObject([
      404,
      {
        statusCode: 404,
        success: false,
        error: 'Payment intent not found',
        code: 'PAYMENT_INTENT_NOT_FOUND',
        message: 'Payment intent not found',
      },
    ])
  })
})
